import type { AnyHttpApi, CallThreads, HttpNetwork } from '#api/http/http-api.js';
import { localnetDescription } from '#api/localnet/description.js';
import type { TernError } from '#kernel/tern-error.js';

/** What a slot holds: an open network with its APIs. */
interface SlotContent {
  readonly http: HttpNetwork;
  close(): Promise<void>;
}

/** How a network is replaced. */
export interface Replacement<Content> {
  /** What requests fail with meanwhile. */
  readonly meanwhile: TernError;
  /** Opens the next network; the one before is closed. */
  readonly open: () => Promise<Content>;
  /** What requests fail with when `open` has failed, until the next replacement. */
  readonly failed: (error: unknown) => TernError;
}

/**
 * The place of a network behind a server, which goes on listening while the network is replaced. The APIs that it serves
 * are those of the first network; their work is done by the latest one.
 */
export class NetworkSlot<Content extends SlotContent> {
  #latest: Content;
  /** Why nothing is served; null when the latest network is open. */
  #problem: TernError | null = null;
  #epoch = 0;
  readonly http: HttpNetwork;

  constructor(first: Content) {
    this.#latest = first;
    const { name, hosts, apis } = first.http;
    this.http = {
      name,
      hosts,
      apis: apis.map((api) => this.#delegating(api)),
      epoch: () => this.#epoch,
      health: () =>
        this.#problem === null
          ? this.#latest.http.health()
          : { ready: false, problem: this.#problem.message, headSeqno: 0, headAgeMs: null },
      headSeqno: () => this.#latest.http.headSeqno(),
    };
  }

  /** The open network, or the last one, which is closed. */
  get latest(): Content {
    return this.#latest;
  }

  /** Closes the network and opens another one. Only one caller at a time may do so. @throws what `open` throws */
  async replace({ meanwhile, open, failed }: Replacement<Content>): Promise<void> {
    this.#problem = meanwhile;
    this.#epoch++;
    try {
      await this.#latest.close();
      this.#latest = await open();
    } catch (error) {
      this.#problem = failed(error);
      throw error;
    }
    this.#epoch++;
    this.#problem = null;
  }

  close(): Promise<void> {
    return this.#latest.close();
  }

  #delegating(api: AnyHttpApi): AnyHttpApi {
    const now = (): AnyHttpApi => this.#latest.http.apis.find(({ prefix }) => prefix === api.prefix) ?? api;
    // The control API works always: it is what a network that does not run is repaired with.
    const isControl = api.prefix === localnetDescription.prefix;
    return {
      ...api,
      ...(api.headSeqno === undefined ? {} : { headSeqno: () => now().headSeqno!() }),
      ...(api.freshness === undefined ? {} : { freshness: (group) => now().freshness!(group) }),
      ...(api.hasten === undefined ? {} : { hasten: (group) => now().hasten?.(group) }),
      ...(api.threads === undefined ? {} : { threads: this.#threadsOf(now) }),
      context: (request) => {
        if (this.#problem !== null && !isControl) throw this.#problem;
        return now().context(request);
      },
    };
  }

  /** While nothing is served, calls stay here, where `context` refuses them. */
  #threadsOf(now: () => AnyHttpApi): CallThreads {
    return {
      takes: (endpoint, price) => this.#problem === null && now().threads?.takes(endpoint, price) === true,
      helps: (endpoint, price) => this.#problem === null && now().threads?.helps(endpoint, price) === true,
      answer: (call, caller) => now().threads!.answer(call, caller),
    };
  }
}
