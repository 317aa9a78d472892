import { hash, timingSafeEqual } from 'node:crypto';
import { fromHex, toBase64Url, toHex, toLatin1 } from '#kernel/bytes.js';
import { accessErrors } from '#services/access/errors.js';
import { type ConfigField, NAME, NAME_DESCRIPTION } from '#services/access/json-field.js';
import { limitsOn, type Plan, type Plans } from '#services/access/plans.js';

/** A secret of a key: there are several while an old one is still valid after a rotation. */
interface KeySecret {
  /** SHA-256 of the key, 64 hexadecimal digits. */
  readonly hash: string;
  readonly created_at: string;
  /** From this moment on it is refused; `null` for never. */
  readonly expires_at: string | null;
}

/** A key as it is stored. Moments are UTC, as `2025-01-31T12:00:00.000Z`. */
export interface KeyRecord {
  /** `key_0123456789` */
  readonly id: string;
  /** A description by its creator. */
  readonly label: string;
  /** Keys of one owner on one plan share its limits; `null` for limits of its own. */
  readonly owner: string | null;
  readonly plan: string;
  /** The networks it is for, among those of its plan; `null` for all of them. */
  readonly networks: readonly string[] | null;
  readonly created_at: string;
  /** From this moment on it is refused. */
  readonly revoked_at: string | null;
  readonly secrets: readonly KeySecret[];
  /** Whether it opens the admin API. */
  readonly admin?: true;
}

/** The form of an id. */
export const KEY_ID = /^key_[0-9a-f]{10}$/;

/** Labels are single lines. */
export const LABEL = /^[^\p{Cc}\p{Zl}\p{Zp}]{0,200}$/u;

/** Reads one stored key: an item of the file of keys, or a record of the database. @throws access/field */
export function readKeyRecord(field: ConfigField): KeyRecord {
  const fields = field.members(
    'id',
    'label',
    'owner',
    'plan',
    'networks',
    'created_at',
    'revoked_at',
    'secrets',
    'admin',
  );
  const admin = fields.admin.optional((flag) => flag.value === true || flag.refuse('true, or nothing'));
  return {
    id: fields.id.text(KEY_ID, '"key_" and 10 hexadecimal digits'),
    label: fields.label.text(LABEL, 'one line of at most 200 characters'),
    owner: fields.owner.optional((text) => text.text(NAME, NAME_DESCRIPTION)),
    plan: fields.plan.text(NAME, NAME_DESCRIPTION),
    networks: fields.networks.optional((list) => list.items().map((item) => item.text(NAME, NAME_DESCRIPTION))),
    created_at: fields.created_at.moment(),
    revoked_at: fields.revoked_at.optional((text) => text.moment()),
    secrets: fields.secrets.items().map(readSecret),
    ...(admin === true ? { admin } : {}),
  };
}

function readSecret(field: ConfigField): KeySecret {
  const fields = field.members('hash', 'created_at', 'expires_at');
  return {
    hash: fields.hash.text(/^[0-9a-f]{64}$/, '64 hexadecimal digits'),
    created_at: fields.created_at.moment(),
    expires_at: fields.expires_at.optional((text) => text.moment()),
  };
}

const PREFIX = 'tern_';
const SECRET_BYTES = 32;
const LENGTH = PREFIX.length + 43;

/** Secret random bytes. */
export type SecretRandomBytes = (size: number) => Uint8Array;

/** A new API key: `tern_` and 256 random bits in base64url, 48 characters. It is shown once and not stored. */
export function newApiKey(randomBytes: SecretRandomBytes): string {
  return PREFIX + toBase64Url(randomBytes(SECRET_BYTES));
}

/** The id of a new key: `key_` and 10 hexadecimal digits. It is not secret. */
function newKeyId(randomBytes: SecretRandomBytes): string {
  return `key_${Buffer.from(randomBytes(5)).toString('hex')}`;
}

/**
 * Whether a text could be a key at all. It looks at the length first, so that a text of any size costs nothing; only what
 * passes is hashed.
 */
export function looksLikeApiKey(text: string): boolean {
  return text.length === LENGTH && text.startsWith(PREFIX) && /^[\w-]+$/.test(text);
}

/**
 * The stored form of a key: its SHA-256. Slow hashes and peppers protect secrets that can be guessed; 256 random bits cannot.
 */
export function hashApiKey(key: string): Uint8Array {
  return hash('sha256', key, 'buffer');
}

interface Entry {
  readonly hash: Uint8Array;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly record: KeyRecord;
}

/**
 * Keys by secret. The first 64 bits of the hash find the entry, then the whole hash is compared in constant time: the time of a
 * lookup reveals at most something about the hash of the sent text, which does not help to find a key.
 */
export class KeyIndex {
  readonly #entries = new Map<string, Entry[]>();
  readonly #records = new Map<string, KeyRecord>();

  constructor(keys: readonly KeyRecord[]) {
    for (const record of keys) {
      this.#records.set(record.id, record);
      if (record.revoked_at === null) this.#addSecrets(record);
    }
  }

  /** Keys that are not revoked; a moment in `revoked_at` is taken for revoked, also one to come. */
  get active(): number {
    let active = 0;
    for (const { revoked_at } of this.#records.values()) if (revoked_at === null) active++;
    return active;
  }

  byId(id: string): KeyRecord | null {
    return this.#records.get(id) ?? null;
  }

  /** Whether there is a key with this id that is not revoked, and one of its secrets has not expired. */
  isValid(id: string, unixTimeMs: number): boolean {
    const record = this.byId(id);
    if (record === null || record.revoked_at !== null) return false;
    return record.secrets.some(({ expires_at }) => expires_at === null || unixTimeMs < Date.parse(expires_at));
  }

  /** The key that a request gave; `null` when it is none, revoked or expired. */
  bySecret(text: string, unixTimeMs: number): KeyRecord | null {
    if (!looksLikeApiKey(text)) return null;
    const hash = hashApiKey(text);
    for (const entry of this.#entries.get(prefixOf(hash)) ?? []) {
      if (timingSafeEqual(entry.hash, hash)) return unixTimeMs < entry.expiresAt ? entry.record : null;
    }
    return null;
  }

  #addSecrets(record: KeyRecord): void {
    for (const { hash: text, expires_at } of record.secrets) {
      const hash = fromHex(text)!;
      const entries = this.#entries.get(prefixOf(hash)) ?? [];
      const expiresAt = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
      this.#entries.set(prefixOf(hash), [...entries, { hash, expiresAt, record }]);
    }
  }
}

function prefixOf(hash: Uint8Array): string {
  return toLatin1(hash, 8);
}

/** A watch of stored keys and plans. */
export interface KeyWatch {
  /** Looks now whether something changed, and resolves when that is known; what cannot be read stays as it was. */
  look(): Promise<void>;
  /** Nothing is called after it. */
  close(): void;
}

/** What a store has. */
export interface StoredKeys {
  readonly keys: readonly KeyRecord[];
  /** Plans that are stored beside the keys; they take the place of others of their names. */
  readonly plans: readonly Plan[];
}

/** A store of keys. Several processes may use it at the same time. */
export interface KeyStore {
  /** The place: the path of a file, a table. */
  readonly name: string;
  /** All keys, revoked ones included, the oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** @throws access/key-exists */
  add(record: KeyRecord): Promise<void>;
  /**
   * Puts what `change` makes of a key in its place, while nobody else changes it; a `change` that throws changes nothing.
   *
   * @throws access/no-such-key
   */
  change(id: string, change: (record: KeyRecord) => KeyRecord): Promise<KeyRecord>;
  /**
   * Calls `onChange` with all keys and plans, once before it resolves, or as soon as the store can be reached, and again within a
   * second of any change, by whichever process. What can no longer be read stays as it was, and the log says so.
   */
  watch(onChange: (stored: StoredKeys) => void): Promise<KeyWatch>;
}

/** The properties of a key to be created. */
export interface NewKey {
  readonly label: string;
  readonly owner: string | null;
  readonly plan: string;
  /** `null` for all networks of the plan. */
  readonly networks: readonly string[] | null;
  readonly admin?: true;
}

/** A key with a new secret, which is known only now. */
export interface IssuedKey {
  readonly record: KeyRecord;
  /** `tern_…` */
  readonly key: string;
}

export interface KeyAdministrationModules {
  readonly store: KeyStore;
  readonly randomBytes: SecretRandomBytes;
  readonly unixTimeMs: () => number;
}

/** Creates, revokes and rotates keys. */
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
   * Gives a key a new secret. The current one stays valid for `graceMs`, and older ones until their expiry; with 0 all of them
   * expire at once.
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

  /** The id of a leaked key. @throws access/no-such-key */
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
