import { httpErrors } from '#api/http/errors.js';
import { KeyedCounts } from '#kernel/keyed-counts.js';

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
  readonly #ofClient = new KeyedCounts();
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
    const own = this.#ofClient.of(client);
    if (this.#all >= most) throw httpErrors.overloaded({ limit: `${this.#all} requests ${what}` });
    if (own >= mostOfClient) throw httpErrors.overloaded({ limit: `${own} requests of this client ${what}` });
    this.#all++;
    this.#ofClient.begin(client);
    return () => {
      this.#all--;
      this.#ofClient.end(client);
    };
  }
}
