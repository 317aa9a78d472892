import { toHex } from '#kernel/bytes/bytes.js';
import { accessErrors } from '#services/access/errors.js';
import { KeyIndex } from '#services/access/key-index.js';
import type { KeyRecord, KeySecret } from '#services/access/key-record.js';
import { hashApiKey, newApiKey, newKeyId, type RandomBytes } from '#services/access/key-secret.js';
import type { KeyStore } from '#services/access/key-store.js';
import { limitsOn, type Plans } from '#services/access/plans.js';

/** What somebody who makes a key decides. */
export interface NewKey {
  readonly label: string;
  readonly owner: string | null;
  readonly plan: string;
  /** `null` for all networks of the plan. */
  readonly networks: readonly string[] | null;
}

/** A key that has just got a secret: the only time that it is known. */
export interface IssuedKey {
  readonly record: KeyRecord;
  /** `tern_…` */
  readonly key: string;
}

export interface KeyAdministrationModules {
  readonly store: KeyStore;
  readonly randomBytes: RandomBytes;
  readonly unixTimeMs: () => number;
}

/** Making, revoking and renewing of keys. */
export class KeyAdministration {
  readonly #modules: KeyAdministrationModules;

  constructor(modules: KeyAdministrationModules) {
    this.#modules = modules;
  }

  /** @throws access/no-such-plan, access/not-in-plan, and what the store throws */
  async create(wanted: NewKey, plans: Plans): Promise<IssuedKey> {
    const plan = plans.forKey(wanted.plan);
    for (const network of wanted.networks ?? []) {
      if (limitsOn(plan, network) !== null) continue;
      const known = [...plan.networks!.keys()].join(', ');
      throw accessErrors['not-in-plan']({ network, plan: plan.name, known });
    }
    const { store, randomBytes } = this.#modules;
    const key = newApiKey(randomBytes);
    const created_at = this.#now();
    const record: KeyRecord = {
      id: newKeyId(randomBytes),
      ...wanted,
      created_at,
      revoked_at: null,
      secrets: [secretOf(key, created_at)],
    };
    await store.add(record);
    return { record, key };
  }

  /** Revoking twice changes nothing. @throws access/no-such-key, and what the store throws */
  async revoke(id: string): Promise<KeyRecord> {
    return this.#modules.store.change(id, (record) =>
      record.revoked_at === null ? { ...record, revoked_at: this.#now() } : record,
    );
  }

  /**
   * Gives a key a new secret. The one in use is let in for `graceMs` more, and older ones as long as they were promised;
   * without a grace all of them end at once.
   *
   * @throws access/no-such-key, access/key-revoked, and what the store throws
   */
  async rotate(id: string, graceMs: number): Promise<IssuedKey> {
    const key = newApiKey(this.#modules.randomBytes);
    const record = await this.#modules.store.change(id, (old) => {
      if (old.revoked_at !== null) throw accessErrors['key-revoked']({ id, revoked_at: old.revoked_at });
      const now = this.#modules.unixTimeMs();
      const grace = new Date(now + graceMs).toISOString();
      const kept =
        graceMs === 0
          ? []
          : old.secrets.filter((each) => each.expires_at === null || Date.parse(each.expires_at) > now);
      const ending = kept.map((secret) => ({ ...secret, expires_at: secret.expires_at ?? grace }));
      return { ...old, secrets: [...ending, secretOf(key, new Date(now).toISOString())] };
    });
    return { record, key };
  }

  /** @throws access/no-such-key, and what the store throws */
  async find(id: string): Promise<KeyRecord> {
    const { store } = this.#modules;
    const found = (await store.list()).find((record) => record.id === id);
    if (found === undefined) throw accessErrors['no-such-key']({ id, file: store.name });
    return found;
  }

  /** The id of a key that somebody has, as when it was found where it should not be. @throws access/no-such-key */
  async idOf(key: string): Promise<string> {
    const { store } = this.#modules;
    // Expired secrets name their key as well.
    const found = new KeyIndex(await store.list()).bySecret(key, Number.NEGATIVE_INFINITY);
    if (found === null) throw accessErrors['no-such-key']({ id: 'with this secret', file: store.name });
    return found.id;
  }

  #now(): string {
    return new Date(this.#modules.unixTimeMs()).toISOString();
  }
}

function secretOf(key: string, created_at: string): KeySecret {
  return { hash: toHex(hashApiKey(key)), created_at, expires_at: null };
}
