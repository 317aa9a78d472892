import type { JsonField } from '#services/access/json-field.js';
import { NAME, NAME_IN_WORDS } from '#services/access/names.js';

/** A secret of a key: more than one while an old one is still let in after a rotation. */
export interface KeySecret {
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
  /** What it is for, in the words of who made it. */
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
}

/** The form of an id. */
export const KEY_ID = /^key_[0-9a-f]{10}$/;

/** Labels are single lines. */
export const LABEL = /^[^\p{Cc}\p{Zl}\p{Zp}]{0,200}$/u;

/** Reads one item of the file of keys. @throws access/field */
export function readKeyRecord(field: JsonField): KeyRecord {
  const fields = field.members('id', 'label', 'owner', 'plan', 'networks', 'created_at', 'revoked_at', 'secrets');
  return {
    id: fields.id.text(KEY_ID, '"key_" and 10 hexadecimal digits'),
    label: fields.label.text(LABEL, 'one line of at most 200 characters'),
    owner: fields.owner.optional((text) => text.text(NAME, NAME_IN_WORDS)),
    plan: fields.plan.text(NAME, NAME_IN_WORDS),
    networks: fields.networks.optional((list) => list.items().map((item) => item.text(NAME, NAME_IN_WORDS))),
    created_at: fields.created_at.moment(),
    revoked_at: fields.revoked_at.optional((text) => text.moment()),
    secrets: fields.secrets.items().map(readSecret),
  };
}

function readSecret(field: JsonField): KeySecret {
  const fields = field.members('hash', 'created_at', 'expires_at');
  return {
    hash: fields.hash.text(/^[0-9a-f]{64}$/, '64 hexadecimal digits'),
    created_at: fields.created_at.moment(),
    expires_at: fields.expires_at.optional((text) => text.moment()),
  };
}
