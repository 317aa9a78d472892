import { AccessTables, type AccessUsageRow } from '#drivers/store/access-tables.js';
import { isTransient } from '#drivers/store/connection.js';
import { storeErrors } from '#drivers/store/errors.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Polling } from '#kernel/polling.js';
import { isTernError } from '#kernel/tern-error.js';
import { accessErrors } from '#services/access/errors.js';
import { ConfigField } from '#services/access/json-field.js';
import { type KeyRecord, type KeyStore, type KeyWatch, readKeyRecord, type StoredKeys } from '#services/access/keys.js';
import { type Plan, readStoredPlan } from '#services/access/plans.js';
import type { UsageByKey, UsageStore } from '#services/access/usage.js';

/** How often a watch asks whether something changed, where changes are announced; those by other programs are not. */
const ANNOUNCED_POLL_MS = 5_000;
/** The same where they are not, and how seldom while the database does not answer. */
const POLL_MS = 250;
const LONGEST_POLL_MS = 2_000;

/** What another process solves: it migrates the database. */
const NOT_MADE_YET: ReadonlySet<string> = new Set([storeErrors['no-schema'].code, storeErrors['schema-old'].code]);

export interface AccessDatabaseOptions {
  /** `postgresql://…`, of the server for writing. */
  readonly url: string | Promise<string>;
  /** Called once with the opened tables, before anything is read. */
  readonly onOpen?: (tables: AccessTables) => Promise<void>;
}

export interface AccessDatabaseModules {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keys, plans and usage in PostgreSQL: one truth for all processes. It is opened when it is first used. */
export class AccessDatabase implements KeyStore {
  readonly name = 'the database';
  readonly #options: AccessDatabaseOptions;
  readonly #modules: AccessDatabaseModules;
  #opening: Promise<AccessTables> | null = null;

  constructor(options: AccessDatabaseOptions, modules: AccessDatabaseModules) {
    this.#options = options;
    this.#modules = modules;
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => null))?.close();
  }

  async list(): Promise<readonly KeyRecord[]> {
    return (await this.#read()).keys;
  }

  /** Plans that are stored here. */
  async listPlans(): Promise<readonly Plan[]> {
    return (await this.#read()).plans;
  }

  /** @param plan as in plans.json @throws access/field */
  async putPlan(plan: unknown): Promise<Plan> {
    const read = readStoredPlan(new ConfigField('the plan', '', plan));
    await (await this.#tables()).putPlan(read.name, plan as object);
    return read;
  }

  /** @throws access/no-such-plan */
  async deletePlan(name: string): Promise<void> {
    if (await (await this.#tables()).deletePlan(name)) return;
    const known = (await this.listPlans()).map((plan) => plan.name).join(', ');
    throw accessErrors['no-such-plan']({ plan: name, known: known === '' ? 'none in the database' : known });
  }

  async add(record: KeyRecord): Promise<void> {
    const added = await (await this.#tables()).addKeys([record]);
    if (added.length === 0) throw accessErrors['key-exists']({ id: record.id, file: this.name });
  }

  async change(id: string, change: (record: KeyRecord) => KeyRecord): Promise<KeyRecord> {
    const tables = await this.#tables();
    const changed = await tables.changeKey(id, (stored) =>
      change(readKeyRecord(new ConfigField('access_keys', id, stored))),
    );
    if (changed === null) throw accessErrors['no-such-key']({ id, file: this.name });
    return changed;
  }

  /** @throws store/* when the database cannot be used; one that cannot be reached now is tried again */
  async watch(onChange: (stored: StoredKeys) => void): Promise<KeyWatch> {
    const { clock, logger } = this.#modules;
    let version: bigint | null = null;
    let closed = false;
    let problem = '';
    let delayMs = POLL_MS;
    const read = async (): Promise<void> => {
      const tables = await this.#tables();
      if (version !== null && (await tables.version()) === version) return;
      const stored = await this.#read();
      version = stored.version;
      if (!closed) onChange(stored);
    };
    const report = (error: unknown): void => {
      const { message } = error as Error;
      delayMs = Math.min(2 * delayMs, LONGEST_POLL_MS);
      if (message === problem || closed) return;
      problem = message;
      logger.warn('the keys in the database cannot be read; they stay as they were', { problem });
    };
    const look = async (): Promise<void> => {
      try {
        await read();
        if (problem !== '') logger.info('the keys in the database are read again');
        problem = '';
        delayMs = POLL_MS;
      } catch (error) {
        report(error);
      }
    };
    let endListening: (() => void) | null = null;
    const listen = async (): Promise<void> => {
      const tables = await this.#tables();
      const onEnd = (): void => {
        endListening = null;
        polling.wake();
      };
      const end = await tables.listen(() => polling.wake(), onEnd);
      if (closed) end();
      else endListening = end;
    };
    const polling: Polling = new Polling(async () => {
      // Before the look: what changes after it is announced.
      if (endListening === null) await listen().catch(() => {});
      await look();
      return endListening === null ? delayMs : ANNOUNCED_POLL_MS;
    }, clock);
    try {
      await read();
    } catch (error) {
      if (!isPassing(error)) throw error;
      report(error);
    }
    polling.start(delayMs);
    return {
      look,
      close() {
        closed = true;
        endListening?.();
        void polling.close();
      },
    };
  }

  /** Usage by day. */
  readonly usage: UsageStore = {
    add: async (day, more) => usageOf(await (await this.#tables()).addUsage(day, usageRowsOf(more))),
    read: async (day) => usageOf(await (await this.#tables()).usageOf(day)),
    days: async () => (await this.#tables()).usageDays(),
    forgetBefore: async (day) => (await this.#tables()).forgetUsageBefore(day),
  };

  async #read(): Promise<StoredKeys & { readonly version: bigint }> {
    const { version, keys, plans } = await (await this.#tables()).read();
    return {
      version,
      keys: keys.map((record, at) => readKeyRecord(new ConfigField('access_keys', `[${at}]`, record))),
      plans: plans.map((plan, at) => readStoredPlan(new ConfigField('access_plans', `[${at}]`, plan))),
    };
  }

  /** A failed attempt is forgotten, so that the next call tries again. */
  #tables(): Promise<AccessTables> {
    if (this.#opening === null) {
      const opening = this.#open();
      this.#opening = opening;
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = null;
      });
    }
    return this.#opening;
  }

  async #open(): Promise<AccessTables> {
    const { url, onOpen } = this.#options;
    const tables = await AccessTables.open(await url, this.#modules);
    try {
      await onOpen?.(tables);
      return tables;
    } catch (error) {
      await tables.close();
      throw error;
    }
  }
}

/** Whether a database that cannot be used now may be usable later: it is started, or migrated. */
export function isPassing(error: unknown): boolean {
  return isTransient(error) || (isTernError(error) && NOT_MADE_YET.has(error.code));
}

export function usageRowsOf(usage: UsageByKey): readonly AccessUsageRow[] {
  return [...usage].flatMap(([key, networks]) =>
    [...networks].map(([network, counts]) => ({ key, network, ...counts })),
  );
}

function usageOf(rows: readonly AccessUsageRow[]): UsageByKey {
  const usage = new Map<string, Map<string, Omit<AccessUsageRow, 'key' | 'network'>>>();
  for (const { key, network, ...counts } of rows) {
    const networks = usage.get(key) ?? new Map();
    usage.set(key, networks.set(network, counts));
  }
  return usage;
}
