const SANE = /^[A-Za-z0-9._:-]{1,64}$/;

/** Gives each request an id: the one it brings, if it can stand in a header and a log line, else one of its own. */
export class RequestIds {
  readonly #begin: string;
  #count = 0;

  /** @param randomBytes tell this process from others */
  constructor(randomBytes: (size: number) => Uint8Array) {
    this.#begin = Buffer.from(randomBytes(6)).toString('base64url');
  }

  of(given: string | readonly string[] | undefined): string {
    if (typeof given === 'string' && SANE.test(given)) return given;
    this.#count++;
    return `${this.#begin}-${this.#count.toString(36)}`;
  }
}
