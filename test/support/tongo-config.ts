import { Address } from '#formats/address/address.js';
import { Cell } from '#formats/cells/cell.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { toHex } from '#kernel/bytes.js';

/**
 * A value in the form in which configurations of two decoders are compared: numbers as decimal strings (booleans as 0 and
 * 1), bytes as hex, keys of dictionaries as text, an empty object for `True`.
 */
export type Plain = string | null | { readonly [key: string]: Plain };

/** Names of tongo that are not the schema's name in other letters. */
const NAMES: Readonly<Record<string, string>> = {
  fee_burn_nom: 'fee_burn_num',
  actual_min_split: 'monitor_min_split',
  pub_key: 'pubkey',
  workchain_format1: 'wfmt_basic',
  workchain_format0: 'wfmt_ext',
};

/** Types of several constructors of which tongo knows one: it is told by its tag. */
const KINDS: Readonly<Record<string, string>> = { '0x5d': 'block_limits' };

/** `ShardValidatorsNum` is `shard_validators_num`. */
function schemaName(name: string): string {
  const snake = name
    .replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)
    .replace(/_?ID$/, '_id')
    .toLowerCase();
  return NAMES[snake] ?? snake;
}

/**
 * Reads tongo's JSON of a configuration: `ConfigParamN` or `ConfigParamNegativeN` for each parameter, `SumType` for the
 * constructor, `Magic` for its tag. A parameter with a single field stands for that field's value.
 */
export function readTongoConfig(json: string): ReadonlyMap<number, Plain> {
  // Integers beyond 2^53 are kept: all numbers are read as strings.
  const parsed = JSON.parse(json.replace(/([:[,]\s*)(-?\d+)(?=\s*[,}\]])/g, '$1"$2"')) as Record<string, unknown>;
  const params = new Map<number, Plain>();
  for (const [name, value] of Object.entries(parsed)) {
    const number = /^ConfigParam(Negative)?(\d+)$/.exec(name);
    if (number === null) throw new TypeError(`${name} is no parameter`);
    const plain = fromTongo(value);
    const fields = plain !== null && typeof plain === 'object' ? Object.values(plain) : [];
    params.set(Number(number[2]) * (number[1] === undefined ? 1 : -1), fields.length === 1 ? fields[0]! : plain);
  }
  return params;
}

function fromTongo(value: unknown): Plain {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? '1' : '0';
  const object = value as Readonly<Record<string, unknown>>;
  const kind = object.SumType;
  if (typeof kind === 'string') return { kind: schemaName(kind), ...(fromTongo(object[kind]) as object) };
  const reported = KINDS[String(object.Magic)];
  const entries = Object.entries(object).filter(([name]) => name !== 'Magic');
  const parts = entries.map(([name, part]) => [/^[A-Z]/.test(name) ? schemaName(name) : name, fromTongo(part)]);
  return { ...(reported === undefined ? {} : { kind: reported }), ...Object.fromEntries(parts) };
}

/** A decoded value in the same form. */
export function plainConfig(value: unknown): Plain {
  if (value === null || typeof value === 'string') return value;
  if (value === true || value === false) return value ? '1' : '0';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Cell) return toHex(value.hash());
  if (value instanceof Lazy) return plainConfig(value.value);
  if (value instanceof Dictionary) {
    return Object.fromEntries(
      [...(value as Dictionary<unknown, unknown>)].map(([key, part]) => [
        keyText(key),
        part === true ? {} : plainConfig(part),
      ]),
    );
  }
  const parts = Object.entries(value as object).map(([name, part]) => [name, plainConfig(part)] as const);
  return beforeQuic(Object.fromEntries(parts));
}

/** tongo has negative keys of 32 bits as unsigned numbers. */
function keyText(key: unknown): string {
  if (key instanceof Uint8Array) return toHex(key);
  if (key instanceof Address) return key.toRaw();
  return String((key as number) >>> 0);
}

/** tongo reads the bits that became `use_quic` (consensus_config_v4) and `protocol_version` (simplex_config_v2) as `flags`. */
function beforeQuic(value: { readonly [key: string]: Plain }): Plain {
  if (value.kind === 'consensus_config_v4') {
    const { use_quic, ...rest } = value;
    return { ...rest, flags: String(Number(value.flags) * 2 + Number(use_quic)) };
  }
  if (value.kind === 'simplex_config_v2') {
    const { protocol_version, ...rest } = value;
    return { ...rest, flags: String(Number(value.flags) * 4 + Number(protocol_version)) };
  }
  return value;
}
