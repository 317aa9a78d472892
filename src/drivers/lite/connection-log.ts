import type { CancelSchedule, Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { TernError } from '#kernel/tern-error.js';

/** How long failures are gathered before the first line, and between two lines. */
const FIRST_MS = 2_000;
const EVERY_MS = 30_000;

/** Servers that a line names. */
const NAMED = 3;

/** Logs failed connections to liteservers: one line for all of them per interval, however many servers and attempts there are. */
export class ConnectionLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #servers: number;
  /** The last problem of each server that failed since the last line. */
  readonly #problems = new Map<string, TernError>();
  #attempts = 0;
  #cancel: CancelSchedule | null = null;

  /** @param servers in all */
  constructor(servers: number, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#servers = servers;
    this.#clock = clock;
    this.#logger = logger;
  }

  note(server: string, problem: TernError): void {
    this.#problems.set(server, problem);
    this.#attempts++;
    this.#cancel ??= this.#clock.schedule(FIRST_MS, () => this.#write());
  }

  close(): void {
    this.#cancel?.();
  }

  #write(): void {
    if (this.#attempts === 0) {
      this.#cancel = null;
      return;
    }
    const kinds = new Map<string, string[]>();
    for (const [server, { code }] of this.#problems) kinds.set(code, [...(kinds.get(code) ?? []), server]);
    const texts = [...kinds].map(([code, servers]) => {
      const named = servers.slice(0, NAMED).join(', ');
      return `${code}: ${named}${servers.length > NAMED ? ` and ${servers.length - NAMED} more` : ''}`;
    });
    this.#logger.info('liteservers were not connected', {
      failed_servers: this.#problems.size,
      servers: this.#servers,
      attempts: this.#attempts,
      problems: texts.join('; '),
    });
    this.#problems.clear();
    this.#attempts = 0;
    this.#cancel = this.#clock.schedule(EVERY_MS, () => this.#write());
  }
}
