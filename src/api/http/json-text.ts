/** JSON that is written already: what a method gives as it is to be sent, instead of a value. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** For those who treat it as a value. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** @param text one whole JSON value; it is not checked */
export function jsonText(text: string): JsonText {
  return new JsonText(text);
}
