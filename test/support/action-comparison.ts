import { ACTION_TYPES, type Action } from '#domain/actions/action-registry.js';
import type { DetailField, DetailFields } from '#domain/actions/action-type.js';
import type { TraceInput } from '#domain/actions/trace-input.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import type { JsonAction } from '#test/support/recorded-actions.js';

/** Details as API v3 writes them, by the declaration of their type. */
export function detailsJson(fields: DetailFields, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = valueJson(field, values[name]);
    if (value !== null || !('presence' in field) || field.presence === 'nullable') json[name] = value;
  }
  return json;
}

function valueJson(field: DetailField, value: unknown): unknown {
  if (field.kind === 'record') return detailsJson(field.fields, value as Readonly<Record<string, unknown>>);
  if (field.kind === 'list') {
    return (value as readonly Readonly<Record<string, unknown>>[]).map((one) => detailsJson(field.fields, one));
  }
  if (value === null || value === undefined) return null;
  switch (field.kind) {
    case 'address':
      return rawJson(value as Address);
    case 'addresses':
      return (value as readonly Address[]).map(rawJson);
    case 'amount':
      return String(value);
    case 'hex':
      return toHex(value as Uint8Array);
    case 'hash':
      return toBase64(value as Uint8Array);
    case 'opcode':
      return `0x${(value as number).toString(16).padStart(8, '0')}`;
    case 'boc':
      return toBase64(serializeBoc(value as Cell, { crc32c: true, order: 'depth-first' }));
    case 'bare_boc':
      return toBase64(serializeBoc(value as Cell, { order: 'depth-first' }));
    case 'currencies':
      return Object.fromEntries(Array.from(value as ReadonlyMap<number, bigint>, ([id, units]) => [id, String(units)]));
    default:
      return value;
  }
}

export function rawJson(address: Address): string {
  return address.toRaw().toUpperCase();
}

/** An action in the form of API v3. */
export function actionJson(action: Action, { transactions }: TraceInput): JsonAction {
  const hasCurrencies = Object.values(action.details).some((value) => value instanceof Map && value.size > 0);
  const isUnnamed = action.type === 'unknown';
  return {
    action_id: toBase64(action.action_id),
    type: hasCurrencies ? 'extra_currency_transfer' : action.type,
    success: action.success,
    start_lt: String(action.start_lt),
    end_lt: String(action.end_lt),
    start_utime: action.start_utime,
    end_utime: action.end_utime,
    transactions: action.transactions.map((position) => toBase64(transactions[position]!.hash)).sort(),
    details: isUnnamed
      ? { error: `unsupported action type: '${action.type}'` }
      : detailsJson(ACTION_TYPES.get(action.type)!.fields, action.details as Readonly<Record<string, unknown>>),
  };
}

const FIELDS = [
  'type',
  'success',
  'start_lt',
  'end_lt',
  'start_utime',
  'end_utime',
  'transactions',
  'details',
] as const;

/** What differs between the actions of a trace; each is one line. */
export function actionDifferences(expected: readonly JsonAction[], actual: readonly JsonAction[]): string[] {
  const found: string[] = [];
  const left = new Map(actual.map((one) => [one.action_id, one]));
  for (const wanted of expected) {
    const given = left.get(wanted.action_id);
    left.delete(wanted.action_id);
    if (given === undefined) {
      found.push(`missing ${wanted.type}`);
      continue;
    }
    for (const field of FIELDS) {
      const [one, other] =
        field === 'transactions' ? [[...wanted[field]].sort(), given[field]] : [wanted[field], given[field]];
      if (field !== 'details') {
        if (JSON.stringify(one) !== JSON.stringify(other)) {
          found.push(`${wanted.type}.${field}: ${JSON.stringify(one)} is ${JSON.stringify(other)}`);
        }
        continue;
      }
      const names = new Set([...Object.keys(one), ...Object.keys(other)]);
      for (const name of names) {
        const [a, b] = [JSON.stringify(wanted.details[name]), JSON.stringify(given.details[name])];
        if (a !== b) found.push(`${wanted.type}.details.${name}: ${a} is ${b}`);
      }
    }
  }
  for (const { type } of left.values()) found.push(`surplus ${type}`);
  return found;
}
