import type { Database } from '#drivers/store/database.js';
import {
  type AttemptOutcome,
  beginAttempt,
  countWaiting,
  moveCursor,
  noteAttempt,
  readWaiting,
  type StoredDelivery,
  type StoredWebhook,
  storeDeliveries,
  type WaitingAmount,
  type WebhookSecrets,
} from '#drivers/store/write/webhooks.js';
import { parseWebUrl, type WebClient } from '#drivers/web/web-client.js';
import { type CancelSchedule, type Clock, pause } from '#kernel/clock.js';
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
  /** How long one attempt takes at most. */
  readonly attemptMs: number;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
  readonly onAttempt: (outcome: AttemptOutcome) => void;
}

/** Deliveries that are read at a time. */
const PAGE = { count: 32, bytes: 2 ** 20 };
/** While the first one is not due: those behind it wait for it. */
const FIRST = { count: 1, bytes: 1 };
const RETRY_MS = 1_000;
/** So long after its time limit, another process may take an attempt whose end was not noted for that of a process that was killed. */
const UNNOTED_MS = 5_000;
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
  /** An event is to be stored, more events wait, and one may wait before them. */
  readonly #storing = new WakeSignal();
  readonly #sending = new WakeSignal();
  readonly #replayed = new WakeSignal();
  readonly #running: Promise<unknown>;

  constructor(hook: StoredWebhook, settings: WebhookSettings, modules: HookRunnerModules) {
    this.#hook = hook;
    this.#settings = settings;
    this.#modules = modules;
    this.#cursor = hook.cursor;
    this.#running = Promise.all([this.#take(), this.#send()]);
  }

  /** An event of it is to be sent now, perhaps before those that wait: dead ones are sent again. */
  wake(): void {
    this.#sending.wake();
    this.#replayed.wake();
  }

  /** It has stopped by itself: another process moved on its cursor, or it was removed. */
  get hasStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#storing.wake();
    this.wake();
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
    const { source, database, clock } = this.#modules;
    const { id, filter } = this.#hook;
    const waiting = await database.withWriter((client) => countWaiting(client, id, this.#settings.maxWaiting));
    // The rest stays in the index until the receiver has taken what waits.
    if (this.#isFull(waiting)) return;
    const { cursor, gap } = source.resumable(this.#cursor);
    this.#taken = [];
    this.#bytes = 0;
    if (gap !== null) {
      this.#modules.logger.warn('a webhook lacks events', { hook: id, problem: gap });
      const body = JSON.stringify({ type: 'gap', error: gap, behind: this.#cursor, cursor });
      this.#taken.push({ json: body, cursor });
      await this.#store();
      return;
    }
    let hasEnded = false;
    const given = source.subscribe(
      filter,
      cursor,
      this.#taker(() => (hasEnded = true)),
    );
    let { events, bytes } = waiting;
    let isQuiet = false;
    let cancel: CancelSchedule = () => {};
    const watchQuiet = (): void => {
      isQuiet = false;
      cancel = clock.schedule(this.#settings.moveMs, () => {
        isQuiet = true;
        this.#storing.wake();
      });
    };
    watchQuiet();
    try {
      while (!this.#stop.signal.aborted) {
        if (this.#taken.length === 0) {
          if (hasEnded) return;
          if (isQuiet) {
            watchQuiet();
            await this.#moveTo(given.cursor());
          } else await this.#storing.next;
          continue;
        }
        const stored = await this.#store();
        events += stored.events;
        bytes += stored.bytes;
        if (this.#isFull({ events, bytes })) return;
      }
    } finally {
      cancel();
      given.end();
    }
  }

  /** Moves the cursor behind events that do not concern the webhook, so that it is never far behind. Nothing waits to be stored. */
  async #moveTo(cursor: string): Promise<void> {
    if (cursor === this.#cursor) return;
    const cursors = { before: this.#cursor, after: cursor };
    const isMoved = await this.#modules.database.withWriter((client) => moveCursor(client, this.#hook.id, cursors));
    if (isMoved) this.#cursor = cursor;
    // Another process is the leader now, or the hook was removed.
    else this.#stop.abort();
  }

  #isFull({ events, bytes }: WaitingAmount): boolean {
    return events >= this.#settings.maxWaiting || bytes >= this.#settings.maxWaitingBytes;
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

  /** Stores what was taken. @returns how much */
  async #store(): Promise<WaitingAmount> {
    const { database, unixTimeMs } = this.#modules;
    const taken = this.#taken;
    const bytes = this.#bytes;
    this.#taken = [];
    const after = taken.findLast(({ cursor }) => cursor !== null)?.cursor ?? this.#cursor;
    const cursors = { before: this.#cursor, after };
    const bodies = taken.map(({ json }) => json);
    const isStored = await database.withWriter((client) =>
      storeDeliveries(client, this.#hook.id, bodies, cursors, unixTimeMs()),
    );
    if (!isStored) {
      // Another process is the leader now, or the hook was removed.
      this.#stop.abort();
      return { events: 0, bytes: 0 };
    }
    this.#cursor = after;
    this.#bytes -= bytes;
    if (this.#bytes === 0) this.#onDrain?.();
    this.#sending.wake();
    return { events: taken.length, bytes };
  }

  // Sending

  async #send(): Promise<void> {
    const { signal: stopped } = this.#stop;
    const { database, clock, unixTimeMs, logger } = this.#modules;
    let most = PAGE;
    while (!stopped.aborted) {
      const { next: woken } = this.#sending;
      const { next: replayed } = this.#replayed;
      try {
        const waiting = await database.withWriter((client) => readWaiting(client, this.#hook.id, most));
        most = PAGE;
        if (waiting.length === 0) {
          await woken;
          continue;
        }
        for (const delivery of waiting) {
          const wait = Number(delivery.not_before) - unixTimeMs();
          if (wait > 0) {
            most = FIRST;
            await Promise.race([replayed, pause(wait, clock, stopped)]);
            break;
          }
          const outcome = await this.#attempt(delivery);
          // Null: another process sends it.
          if (outcome === null) this.#stop.abort();
          if (outcome === null || stopped.aborted) return;
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

  /** @returns null: it was stopped, or another process sends */
  async #attempt(delivery: StoredDelivery): Promise<AttemptOutcome | null> {
    const { database, unixTimeMs } = this.#modules;
    const { id, url } = this.#hook;
    const { number, body } = delivery;
    const now = unixTimeMs();
    const until = now + this.#modules.attemptMs + UNNOTED_MS;
    const begun = await database.withWriter((client) => beginAttempt(client, id, delivery, { now, until }));
    if (begun === null) return null;
    const { attempt, since, secrets } = begun;
    const message = `msg_${id}_${number}`;
    const answer = await sendSigned({ url, secrets }, message, body, this.#modules, this.#stop.signal);
    const isOver = this.#stop.signal.aborted && answer.problem !== null;
    const outcome = isOver ? CALLED_OFF : this.#outcomeOf(answer, attempt, Number(since));
    const isNoted = await database.withWriter((client) => {
      return noteAttempt(client, id, { number, attempt }, outcome, unixTimeMs());
    });
    return isNoted && !isOver ? outcome : null;
  }

  #outcomeOf({ status, problem }: ReceiverAnswer, attempt: number, since: number): AttemptOutcome {
    if (problem === null) return { state: 'delivered', not_before: 0, status, problem };
    const now = this.#modules.unixTimeMs();
    const { firstRetryMs, mostRetryMs, giveUpMs } = this.#settings;
    if (now - since >= giveUpMs) return { state: 'dead', not_before: 0, status, problem };
    const delay = Math.min(firstRetryMs * 2 ** Math.min(attempt - 1, 30), mostRetryMs);
    return { state: 'waiting', not_before: now + delay, status, problem };
  }
}

/** The attempt ended with the runner: whoever sends next begins another one at once. */
const CALLED_OFF: AttemptOutcome = { state: 'waiting', not_before: 0, status: null, problem: null };

/** What a receiver answered. */
export interface ReceiverAnswer {
  /** Null: nothing. */
  readonly status: number | null;
  /** Null: it took the event. */
  readonly problem: string | null;
}

/** Sends one event. Never rejects. */
export async function sendSigned(
  { url, secrets }: Pick<StoredWebhook, 'url' | 'secrets'>,
  id: string,
  body: string,
  { web, unixTimeMs }: Pick<HookRunnerModules, 'web' | 'unixTimeMs'>,
  stopped: AbortSignal,
): Promise<ReceiverAnswer> {
  try {
    const now = unixTimeMs();
    const headers = signedHeaders(validSecrets(secrets, now), id, body, Math.floor(now / 1000));
    const request = { url: parseWebUrl(url), method: 'POST' as const, headers, body: new TextEncoder().encode(body) };
    const { status } = await web.send(request, stopped);
    return { status, problem: status >= 200 && status < 300 ? null : `it answered ${status}` };
  } catch (error) {
    return { status: null, problem: problemOf(error) };
  }
}

/** The secrets that sign at a time. */
function validSecrets({ secret, previous_secret, previous_until }: WebhookSecrets, now: number): readonly string[] {
  return previous_secret !== null && now < Number(previous_until) ? [secret, previous_secret] : [secret];
}

function problemOf(error: unknown): string {
  const text = isTernError(error) ? error.message : String(error);
  return text.length > LONGEST_PROBLEM ? `${text.slice(0, LONGEST_PROBLEM)}…` : text;
}
