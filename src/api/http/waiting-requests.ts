import { httpErrors } from '#api/http/errors.js';

export interface WaitingRequestsOptions {
  /** Requests that may wait: of all clients, and of one. */
  readonly most: number;
  readonly mostOfClient: number;
  /** What they do, for the error: "wait for a block". */
  readonly what: string;
}

/** Counts requests that wait, of all clients and of each. */
export class WaitingRequests {
  readonly #options: WaitingRequestsOptions;
  readonly #ofClient = new Map<string, number>();
  #all = 0;

  constructor(options: WaitingRequestsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#all;
  }

  /** Lets one more request wait. @returns ends that; call it once. @throws http/overloaded */
  enter(client: string): () => void {
    const { most, mostOfClient, what } = this.#options;
    const own = this.#ofClient.get(client) ?? 0;
    if (this.#all >= most) throw httpErrors.overloaded({ limit: `${this.#all} requests ${what}` });
    if (own >= mostOfClient) throw httpErrors.overloaded({ limit: `${own} requests of this client ${what}` });
    this.#all++;
    this.#ofClient.set(client, own + 1);
    return () => {
      this.#all--;
      const left = this.#ofClient.get(client)! - 1;
      if (left === 0) this.#ofClient.delete(client);
      else this.#ofClient.set(client, left);
    };
  }
}
