import type { AdnlClient, QueryOptions } from '#drivers/adnl/client.js';
import { adnlErrors } from '#drivers/adnl/errors.js';
import type { AdnlClientOptions } from '#drivers/adnl/options.js';
import type { Clock } from '#kernel/clock.js';
import type { TernError } from '#kernel/tern-error.js';
import type { FakeLiteserver } from '#test/support/fake-liteserver.js';

/** Connections to fake servers without sockets, so that a fake clock decides all times. */
export class MemoryNetwork {
  /** Servers that cannot be reached, by name. */
  readonly unreachable = new Set<string>();
  /** When each server was connected to. */
  readonly attempts: { readonly name: string; readonly at: number }[] = [];
  readonly #servers: readonly FakeLiteserver[];
  readonly #clock: Clock;
  readonly #clients = new Map<string, MemoryClient>();

  constructor(servers: readonly FakeLiteserver[], clock: Clock) {
    this.#servers = servers;
    this.#clock = clock;
  }

  readonly connect = async ({ host, port }: AdnlClientOptions): Promise<AdnlClient> => {
    const peer = `${host}:${port}`;
    this.attempts.push({ name: host, at: this.#clock.now() });
    const server = this.#servers.find((each) => each.name === host);
    if (server === undefined || this.unreachable.has(host)) {
      throw adnlErrors['connect-failed']({ peer, problem: 'ECONNREFUSED' });
    }
    const client = new MemoryClient(peer, server, this.#clock);
    this.#clients.set(host, client);
    return client;
  };

  /** Cuts the connection to a server. */
  cut(server: FakeLiteserver): void {
    const { peer } = server;
    this.#clients.get(server.name)?.end(adnlErrors['connection-lost']({ peer, problem: 'it was cut' }));
  }
}

class MemoryClient implements AdnlClient {
  readonly peer: string;
  readonly closed: Promise<TernError>;
  isClosed = false;
  waiting = 0;
  readonly #server: FakeLiteserver;
  readonly #clock: Clock;
  readonly #pending = new Set<(reason: TernError) => void>();
  #onClosed: (reason: TernError) => void = () => {};

  constructor(peer: string, server: FakeLiteserver, clock: Clock) {
    this.peer = peer;
    this.#server = server;
    this.#clock = clock;
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  query(data: Uint8Array, { signal, timeoutMs = 10_000 }: QueryOptions = {}): Promise<Uint8Array> {
    const { peer } = this;
    return new Promise((resolve, reject) => {
      const end = (react: () => void) => {
        if (!this.#pending.delete(fail)) return;
        cancel();
        signal?.removeEventListener('abort', onAbort);
        react();
      };
      const fail = (reason: TernError) => end(() => reject(reason));
      const onAbort = () => fail(adnlErrors['query-aborted']({ peer, sent: true }));
      const cancel = this.#clock.schedule(timeoutMs, () =>
        fail(adnlErrors['query-timeout']({ peer, timeoutMs, sent: true })),
      );
      this.#pending.add(fail);
      signal?.addEventListener('abort', onAbort);
      this.#server.handle(data).then(
        (answer) => end(() => resolve(answer)),
        () => {},
      );
    });
  }

  close(): void {
    this.end(adnlErrors.closed({ peer: this.peer }));
  }

  end(reason: TernError): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { code, message: problem } = reason;
    for (const fail of [...this.#pending])
      fail(adnlErrors['query-lost']({ peer: this.peer, code, problem, sent: true }));
    this.#onClosed(reason);
  }
}
