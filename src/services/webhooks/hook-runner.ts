import type { Database } from '#drivers/store/database.js';
import {
  type AttemptOutcome,
  countWaiting,
  noteAttempt,
  readWaiting,
  type StoredDelivery,
  type StoredWebhook,
  storeDeliveries,
} from '#drivers/store/write/webhooks.js';
import { parseWebUrl, type WebClient } from '#drivers/web/web-client.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { isTernError } from '#kernel/tern-error.js';
import { WakeSignal } from '#kernel/wake-signal.js';
import type { EventSource, EventTaker } from '#services/webhooks/event-source.js';
import type { WebhookSettings } from '#services/webhooks/options.js';
import { signedHeaders } from '#services/webhooks/signature.js';

export interface HookRunnerModules {
  readonly database: Database;
  readonly source: EventSource;
  readonly web: Pick<WebClient, 'send'>;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
  readonly onAttempt: (outcome: AttemptOutcome) => void;
}

/** Deliveries that are read at a time. */
const PAGE = 32;
const RETRY_MS = 1_000;
const LONGEST_PROBLEM = 500;

/** One webhook: stores its events, and sends them one after the other. */
export class HookRunner {
  readonly #hook: StoredWebhook;
  readonly #settings: WebhookSettings;
  readonly #modules: HookRunnerModules;
  readonly #stop = sharedAbortController();
  #cursor: string;
  #taken: { readonly json: string; readonly cursor: string | null }[] = [];
  #bytes = 0;
  #onDrain: (() => void) | null = null;
  /** Something is to be stored, and something is to be sent. */
  readonly #storing = new WakeSignal();
  readonly #sending = new WakeSignal();
  readonly #running: Promise<unknown>;

  constructor(hook: StoredWebhook, settings: WebhookSettings, modules: HookRunnerModules) {
    this.#hook = hook;
    this.#settings = settings;
    this.#modules = modules;
    this.#cursor = hook.cursor;
    this.#running = Promise.all([this.#take(), this.#send()]);
  }

  /** Something of it may be due now: dead deliveries were replayed. */
  wake(): void {
    this.#sending.wake();
  }

  /** It has stopped by itself: another process moved on its cursor, or it was removed. */
  get hasStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#storing.wake();
    this.#sending.wake();
    this.#onDrain?.();
    await this.#running;
  }

  // Taking events

  async #take(): Promise<void> {
    const { signal: stopped } = this.#stop;
    const { clock, logger } = this.#modules;
    while (!stopped.aborted) {
      try {
        await this.#takeWhileSubscribed();
      } catch (error) {
        if (stopped.aborted) return;
        logger.warn('events of a webhook are not stored; retrying', { hook: this.#hook.id, problem: problemOf(error) });
      }
      await pause(RETRY_MS, clock, stopped);
    }
  }

  async #takeWhileSubscribed(): Promise<void> {
    const { source, database } = this.#modules;
    const { maxWaiting } = this.#settings;
    const { id, filter } = this.#hook;
    const waiting = await database.withWriter((client) => countWaiting(client, id, maxWaiting));
    // The rest stays in the index until the receiver has taken what waits.
    if (waiting >= maxWaiting) return;
    this.#taken = [];
    this.#bytes = 0;
    let hasEnded = false;
    const end = source.subscribe(
      filter,
      this.#cursor,
      this.#taker(() => (hasEnded = true)),
    );
    let stored = waiting;
    try {
      while (!this.#stop.signal.aborted) {
        if (this.#taken.length === 0) {
          if (hasEnded) return;
          await this.#storing.next;
          continue;
        }
        stored += await this.#store();
        if (stored >= maxWaiting) return;
      }
    } finally {
      end();
    }
  }

  #taker(onEnd: () => void): EventTaker {
    const runner = this;
    return {
      event: (json, cursor) => {
        this.#taken.push({ json, cursor });
        this.#bytes += json.length;
        this.#storing.wake();
      },
      get buffered() {
        return runner.#bytes;
      },
      drained: () =>
        new Promise((resolve) => {
          if (this.#bytes === 0) resolve();
          else this.#onDrain = resolve;
        }),
      ended: (problem) => {
        onEnd();
        if (problem !== null) this.#modules.logger.warn('a webhook gets no events', { hook: this.#hook.id, problem });
        this.#storing.wake();
      },
    };
  }

  /** Stores what was taken. @returns how many events */
  async #store(): Promise<number> {
    const { database, unixTimeMs } = this.#modules;
    const taken = this.#taken;
    const bytes = this.#bytes;
    this.#taken = [];
    const after = taken.findLast(({ cursor }) => cursor !== null)?.cursor ?? this.#cursor;
    const cursors = { before: this.#cursor, after };
    const bodies = taken.map(({ json }) => json);
    const isStored = await database.transaction((client) =>
      storeDeliveries(client, this.#hook.id, bodies, cursors, unixTimeMs()),
    );
    if (!isStored) {
      // Another process is the leader now, or the hook was removed.
      this.#stop.abort();
      return 0;
    }
    this.#cursor = after;
    this.#bytes -= bytes;
    if (this.#bytes === 0) this.#onDrain?.();
    this.#sending.wake();
    return taken.length;
  }

  // Sending

  async #send(): Promise<void> {
    const { signal: stopped } = this.#stop;
    const { database, clock, unixTimeMs, logger } = this.#modules;
    while (!stopped.aborted) {
      const { next: woken } = this.#sending;
      try {
        const waiting = await database.withWriter((client) => readWaiting(client, this.#hook.id, PAGE));
        if (waiting.length === 0) {
          await Promise.race([woken, pause(this.#settings.pollMs, clock, stopped)]);
          continue;
        }
        for (const delivery of waiting) {
          const wait = Number(delivery.not_before) - unixTimeMs();
          if (wait > 0) {
            await Promise.race([woken, pause(wait, clock, stopped)]);
            break;
          }
          const outcome = await this.#attempt(delivery);
          if (stopped.aborted || outcome === null) return;
          await database.withWriter((client) => {
            return noteAttempt(client, this.#hook.id, delivery.number, outcome, unixTimeMs());
          });
          this.#modules.onAttempt(outcome);
          // The order is kept: those behind it wait.
          if (outcome.state === 'waiting') break;
        }
      } catch (error) {
        if (stopped.aborted) return;
        logger.warn('a webhook cannot be sent; retrying', { hook: this.#hook.id, problem: problemOf(error) });
        await pause(RETRY_MS, clock, stopped);
      }
    }
  }

  /** @returns null: it was stopped */
  async #attempt({ number, body, attempts, since }: StoredDelivery): Promise<AttemptOutcome | null> {
    const { unixTimeMs } = this.#modules;
    const { id } = this.#hook;
    const answer = await sendSigned(this.#hook, `msg_${id}_${number}`, body, this.#modules, this.#stop.signal);
    if (this.#stop.signal.aborted) return null;
    const { status, problem } = answer;
    if (problem === null) return { state: 'delivered', not_before: 0, status, problem };
    const now = unixTimeMs();
    const { firstRetryMs, mostRetryMs, giveUpMs } = this.#settings;
    if (now - Number(since) >= giveUpMs) return { state: 'dead', not_before: 0, status, problem };
    const delay = Math.min(firstRetryMs * 2 ** Math.min(attempts, 30), mostRetryMs);
    return { state: 'waiting', not_before: now + delay, status, problem };
  }
}

/** What a receiver answered. */
export interface ReceiverAnswer {
  /** Null: nothing. */
  readonly status: number | null;
  /** Null: it took the event. */
  readonly problem: string | null;
}

/** Sends one event. Never rejects. */
export async function sendSigned(
  { url, secret }: Pick<StoredWebhook, 'url' | 'secret'>,
  id: string,
  body: string,
  { web, unixTimeMs }: Pick<HookRunnerModules, 'web' | 'unixTimeMs'>,
  stopped: AbortSignal,
): Promise<ReceiverAnswer> {
  try {
    const headers = signedHeaders(secret, id, body, Math.floor(unixTimeMs() / 1000));
    const request = { url: parseWebUrl(url), method: 'POST' as const, headers, body: new TextEncoder().encode(body) };
    const { status } = await web.send(request, stopped);
    return { status, problem: status >= 200 && status < 300 ? null : `it answered ${status}` };
  } catch (error) {
    return { status: null, problem: problemOf(error) };
  }
}

function problemOf(error: unknown): string {
  const text = isTernError(error) ? error.message : String(error);
  return text.length > LONGEST_PROBLEM ? `${text.slice(0, LONGEST_PROBLEM)}…` : text;
}
