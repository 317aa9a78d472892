import type { ClientBase } from 'pg';
import type { Database } from '#drivers/store/database.js';
import {
  countWebhooks,
  type DeliveryState,
  deleteWebhook,
  dropDeliveries,
  insertWebhook,
  type ListedWebhook,
  listDeliveries,
  readWebhook,
  readWebhookStates,
  readWebhooks,
  replaceSecret,
  replayDead,
  type StoredDelivery,
  type StoredWebhook,
  type WebhookSecrets,
} from '#drivers/store/write/webhooks.js';
import { type TargetPolicy, targetPolicy } from '#drivers/web/target-policy.js';
import { parseWebUrl, WebClient } from '#drivers/web/web-client.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Polling } from '#kernel/polling.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { isTernError } from '#kernel/tern-error.js';
import { webhookErrors } from '#services/webhooks/errors.js';
import type { EventSource } from '#services/webhooks/event-source.js';
import { HookRunner, type ReceiverAnswer, sendSigned } from '#services/webhooks/hook-runner.js';
import type { WebhookMetrics } from '#services/webhooks/metrics.js';
import { defaultWebhookSettings, type WebhookSettings } from '#services/webhooks/options.js';
import { newSecret } from '#services/webhooks/signature.js';

export interface WebhookModules {
  /** For writing. */
  readonly database: () => Promise<Database>;
  readonly source: EventSource;
  /** Whether this process sends: it is the leader of the index. Must be fast. */
  readonly isLeader: () => boolean;
  /** Whether the API key of an owner can still be used, or that is not known: webhooks of others are kept, and not sent. Must be fast. */
  readonly isValidOwner: (keyId: string) => boolean;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  /** Unpredictable. */
  readonly randomBytes: (size: number) => Uint8Array;
  readonly logger: Logger;
}

/** What is asked for. */
export interface NewWebhook {
  readonly url: string;
  readonly filter: object;
}

/** Whose webhooks: of an API key; null: of the operator, who sees all. */
export type WebhookOwner = string | null;

const WEB_LIMITS = {
  totalMs: 15_000,
  firstByteMs: 10_000,
  stallMs: 5_000,
  bytes: 64 * 1024,
  headerBytes: 16 * 1024,
  redirects: 0,
};
const MOST_LISTED = { count: 1_000, bytes: 2 ** 20 };
/** Characters of the filters in a list: more than those of one key have. */
const MOST_FILTERS = 8 * 2 ** 20;
const LONGEST_URL = 2_048;
const LONGEST_FILTER = 256 * 1024;
const DROP_EVERY_MS = 600_000;

/** While there are no hooks, they are looked for so many times less often: one that is created here ends the pause. */
const NONE_TIMES = 5;

/** The webhooks of a network: their administration in any process, and their sending in one. */
export class Webhooks {
  readonly #settings: WebhookSettings;
  readonly #modules: WebhookModules;
  readonly #web: WebClient;
  readonly #policy: TargetPolicy;
  readonly #stop = sharedAbortController();
  readonly #runners = new Map<string, HookRunner>();
  readonly #counts = { delivered: 0, failed: 0, dead: 0 };
  #droppedAt = Number.NEGATIVE_INFINITY;
  readonly #looking: Polling;
  #hasFailed = false;
  /** Hooks whose owners are not valid, when it was last looked. */
  #unsent = 0;

  constructor(settings: Partial<WebhookSettings>, modules: WebhookModules) {
    this.#settings = { ...defaultWebhookSettings, ...settings };
    this.#modules = modules;
    this.#policy = targetPolicy({ allowPrivateNetworks: this.#settings.allowPrivateNetworks });
    this.#web = new WebClient(WEB_LIMITS, { policy: this.#policy, clock: modules.clock });
    this.#looking = new Polling((signal) => this.#lookOnce(signal), modules.clock);
  }

  start(): void {
    this.#looking.start();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#looking.close();
    await Promise.all([...this.#runners.values()].map((runner) => runner.close()));
  }

  metrics(): WebhookMetrics {
    return { ...this.#counts, hooks: this.#runners.size };
  }

  /** @throws webhooks/parameter, webhooks/target, webhooks/too-many, and what the filter is refused with */
  async add(owner: WebhookOwner, { url, filter }: NewWebhook): Promise<StoredWebhook> {
    const { source, randomBytes, unixTimeMs } = this.#modules;
    await this.#checkTarget(url);
    if (JSON.stringify(filter).length > LONGEST_FILTER) {
      throw webhookErrors.parameter({ parameter: 'filter', problem: 'it is too long' });
    }
    requireStorable('filter', filter);
    source.check(filter);
    const { cursor } = source;
    if (cursor === null)
      throw webhookErrors.parameter({ parameter: 'filter', problem: 'the index was not read yet; try again' });
    const hook: StoredWebhook = {
      id: `wh_${Buffer.from(randomBytes(12)).toString('hex')}`,
      ...{ owner, url, filter, cursor, created_at: BigInt(unixTimeMs()) },
      secrets: { secret: newSecret(randomBytes), previous_secret: null, previous_until: 0n },
    };
    await this.#write(async (client) => {
      const counts = await countWebhooks(client);
      const all = counts.reduce((sum, each) => sum + (this.#isSent(each) ? each.count : 0), 0);
      const own = counts.find((each) => each.owner === owner)?.count ?? 0;
      const { maxPerOwner, maxHooks } = this.#settings;
      if (all >= maxHooks) throw webhookErrors['too-many']({ most: maxHooks });
      if (owner !== null && own >= maxPerOwner) throw webhookErrors['too-many']({ most: maxPerOwner });
      await insertWebhook(client, hook);
    });
    this.#looking.wake();
    return hook;
  }

  async list(owner: WebhookOwner): Promise<readonly ListedWebhook[]> {
    return this.#write((client) => readWebhooks(client, owner, MOST_FILTERS));
  }

  /** @throws webhooks/no-such-hook */
  async remove(owner: WebhookOwner, id: string): Promise<void> {
    await this.#find(owner, id);
    await this.#write((client) => deleteWebhook(client, id));
    this.#looking.wake();
  }

  /** Gives it a new secret. The one before signs as well for a day. @throws webhooks/no-such-hook */
  async rotate(owner: WebhookOwner, id: string): Promise<WebhookSecrets> {
    await this.#find(owner, id);
    const { randomBytes, unixTimeMs } = this.#modules;
    await this.#write((client) =>
      replaceSecret(client, id, newSecret(randomBytes), unixTimeMs() + this.#settings.keepSecretMs),
    );
    return (await this.#find(owner, id)).secrets;
  }

  /** Sends an event that is none, now, and says what the receiver answered. @throws webhooks/no-such-hook */
  async test(owner: WebhookOwner, id: string): Promise<ReceiverAnswer> {
    const hook = await this.#find(owner, id);
    const { unixTimeMs } = this.#modules;
    const body = JSON.stringify({ type: 'test', webhook: id, timestamp: new Date(unixTimeMs()).toISOString() });
    const message = `msg_${id}_test_${unixTimeMs()}`;
    return sendSigned(hook, message, body, { web: this.#web, unixTimeMs }, this.#stop.signal);
  }

  /** @throws webhooks/no-such-hook */
  async deliveries(owner: WebhookOwner, id: string, state: DeliveryState | null): Promise<readonly StoredDelivery[]> {
    await this.#find(owner, id);
    return this.#write((client) => listDeliveries(client, id, state, MOST_LISTED));
  }

  /** Has dead events sent again. @param number null: all @returns how many @throws webhooks/no-such-hook */
  async replay(owner: WebhookOwner, id: string, number: bigint | null): Promise<number> {
    await this.#find(owner, id);
    const count = await this.#write((client) => replayDead(client, id, number, this.#modules.unixTimeMs()));
    this.#runners.get(id)?.wake();
    return count;
  }

  async #find(owner: WebhookOwner, id: string): Promise<StoredWebhook> {
    const found = await this.#write((client) => readWebhook(client, owner, id));
    if (found === null) throw webhookErrors['no-such-hook']({ id: id.slice(0, 80) });
    return found;
  }

  /** @throws webhooks/target */
  async #checkTarget(text: string): Promise<void> {
    if (text.length > LONGEST_URL) throw webhookErrors.target({ problem: 'it is too long' });
    try {
      await this.#policy.addressesOf(parseWebUrl(text), this.#stop.signal);
    } catch (error) {
      // A name that does not resolve now may do so later.
      if (isTernError(error, 'web/unresolved')) return;
      throw webhookErrors.target({ problem: isTernError(error) ? error.message : String(error) }, error);
    }
  }

  async #write<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    return (await this.#modules.database()).transaction(work);
  }

  // Sending

  /** @returns the milliseconds until the next time */
  async #lookOnce(signal: AbortSignal): Promise<number> {
    const { isLeader, source } = this.#modules;
    const { pollMs } = this.#settings;
    if (!isLeader() || source.cursor === null) {
      await this.#keep([]);
      return pollMs;
    }
    try {
      const database = await this.#modules.database();
      const hooks = await database.withWriter((client) => readWebhookStates(client, this.#modules.unixTimeMs()));
      const sent = hooks.filter((hook) => this.#isSent(hook));
      this.#tellUnsent(hooks.length - sent.length);
      await this.#keep(sent.map(({ id }) => id));
      // Another process may have had dead events sent again.
      for (const { id, is_due } of hooks) if (is_due) this.#runners.get(id)?.wake();
      this.#hasFailed = false;
      return hooks.length === 0 ? pollMs * NONE_TIMES : pollMs;
    } catch (error) {
      const problem = isTernError(error) ? error.message : String(error);
      if (!this.#hasFailed && !signal.aborted)
        this.#modules.logger.warn('webhooks cannot be read; retrying', { problem });
      this.#hasFailed = true;
      return pollMs;
    }
  }

  #isSent({ owner }: Pick<StoredWebhook, 'owner'>): boolean {
    return owner === null || this.#modules.isValidOwner(owner);
  }

  #tellUnsent(count: number): void {
    if (count > this.#unsent) {
      this.#modules.logger.info('webhooks are not sent: their API keys are unknown, revoked or expired', { count });
    }
    this.#unsent = count;
  }

  /** Starts the hooks that are new, and stops those that are gone. */
  async #keep(ids: readonly string[]): Promise<void> {
    const { clock, unixTimeMs } = this.#modules;
    const kept = new Set(ids);
    for (const [id, runner] of this.#runners) {
      if (kept.has(id) && !runner.hasStopped) continue;
      this.#runners.delete(id);
      await runner.close();
    }
    if (ids.length === 0) return;
    const database = await this.#modules.database();
    for (const id of ids) {
      if (this.#runners.has(id)) continue;
      const hook = await database.withWriter((client) => readWebhook(client, null, id));
      if (hook === null) continue;
      const onAttempt = ({ state }: { readonly state: DeliveryState }) => {
        if (state === 'delivered') this.#counts.delivered++;
        else this.#counts.failed++;
        if (state === 'dead') this.#counts.dead++;
      };
      const modules = { ...this.#modules, database, web: this.#web, attemptMs: WEB_LIMITS.totalMs, onAttempt };
      this.#runners.set(hook.id, new HookRunner(hook, this.#settings, modules));
    }
    if (clock.now() - this.#droppedAt < DROP_EVERY_MS) return;
    this.#droppedAt = clock.now();
    const { keepDeliveredMs, keepDeadMs } = this.#settings;
    const now = unixTimeMs();
    await this.#write((client) => dropDeliveries(client, { delivered: now - keepDeliveredMs, dead: now - keepDeadMs }));
  }
}

/** Requires of a parameter that the database can store all its texts: also names and members of objects. @throws webhooks/parameter */
export function requireStorable(parameter: string, value: unknown): void {
  if (typeof value === 'string' && /[\0\p{Surrogate}]/u.test(value)) {
    throw webhookErrors.parameter({ parameter, problem: 'a text has U+0000 or half of a surrogate pair' });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    requireStorable(parameter, name);
    requireStorable(parameter, member);
  }
}
