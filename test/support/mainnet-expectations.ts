import { ACTION_TYPES, type Action } from '#domain/actions/action-registry.js';
import type { DetailFields } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import type { Classification } from '#domain/actions/classify.js';
import type { TraceInput } from '#domain/actions/trace-input.js';
import { toBase64 } from '#kernel/bytes.js';
import { detailsJson, rawJson } from '#test/support/action-comparison.js';
import type { MainnetTraceCase } from '#test/support/mainnet-traces.js';

/*
 * Compares a classification with the expectations of a mainnet trace. They name the columns of the reference: roles of fields, and
 * further data under `…_data`.
 */

/** Columns that are called otherwise than our details. */
const RENAMED: Readonly<Record<string, string>> = {
  amount1: 'amount_1',
  amount2: 'amount_2',
  asset1: 'asset_1',
  asset2: 'asset_2',
  asset1_out: 'asset_1',
  asset2_out: 'asset_2',
  burned_nft_index: 'burnt_nft_index',
  burned_nft_address: 'burnt_nft_address',
  ts_nft: 'payout_nft',
  jetton0_router_wallet: 'router_jetton_wallet_1',
  jetton1_router_wallet: 'router_jetton_wallet_2',
  jetton0_minter: 'jetton_minter_1',
  jetton1_minter: 'jetton_minter_2',
  content: 'comment',
  real_prev_owner: 'real_old_owner',
};

/** Columns that API v3 does not show: their accounts are among the participants. */
const HIDDEN = new Set([
  // False is shown as null.
  'is_refund',
  'dex_jetton_wallet_1',
  'dex_jetton_wallet_2',
  'dex_wallet_1',
  'dex_wallet_2',
  'cocoon_worker_payout.source_secondary',
  'cocoon_proxy_payout.destination_secondary',
  'cocoon_proxy_charge.amount',
  'cocoon_client_top_up.destination_secondary',
  'cocoon_grant_refund.source_secondary',
  'tgbtc_mint.source_secondary',
  'tgbtc_new_key.value',
  'nft_mint.asset_secondary',
  'stake_withdrawal_request.source_secondary',
  'dex_withdraw_liquidity.source_secondary',
  'dex_withdraw_liquidity.asset',
  'evaa_withdraw.evaa_withdraw_data.is_ton',
  'stake_withdrawal_request.amount',
]);

/** Columns of the reference for what has no column. */
const MISPLACED: Readonly<Record<string, string>> = {
  'tgbtc_mint.asset_secondary': 'details.bitcoin_tx_id',
  'tgbtc_new_key.source_secondary': 'details.pubkey',
  'tgbtc_dkg_log_fallback.asset': 'details.pubkey',
};

type Json = Readonly<Record<string, unknown>>;

/** What the reference stores of an action, as far as the expectations ask for it. */
function columnsOf(action: Action, { transactions }: TraceInput): Json {
  const fields: DetailFields = ACTION_TYPES.get(action.type)!.fields;
  const details = detailsJson(fields, action.details as Json);
  return {
    ...roles(fields, details),
    details,
    type: action.type,
    action_id: toBase64(action.action_id),
    success: action.success,
    start_lt: Number(action.start_lt),
    end_lt: Number(action.end_lt),
    start_utime: action.start_utime,
    end_utime: action.end_utime,
    accounts: action.accounts.map(rawJson),
    tx_hashes: action.transactions.map((position) => toBase64(transactions[position]!.hash)),
    parent_action_id: action.parent_action_id === null ? null : toBase64(action.parent_action_id),
    ancestor_type: action.ancestor_types,
    opcode: details.opcode === undefined ? null : Number(details.opcode),
  };
}

function roles(fields: DetailFields, details: Json): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field.kind === 'record') Object.assign(found, roles(field.fields, details[name] as Json));
    else if (field.kind !== 'list' && field.role !== null) found[field.role] = details[name] ?? null;
  }
  return found;
}

/** What does not hold; each is one line. */
export function expectedFailures(
  given: MainnetTraceCase,
  { actions, blocks }: Classification,
  trace: TraceInput,
): string[] {
  const failures: string[] = [];
  const rows = actions.map((action) => columnsOf(action, trace));
  for (const expected of given['expected-actions'] ?? []) {
    const ofType = rows.filter(({ type }) => type === expected.type);
    const chosen =
      expected.selector === undefined ? ofType : ofType.filter((row) => selects(expected.selector!, row)).slice(0, 1);
    if (chosen.length !== 1) {
      failures.push(
        `${expected.type} ${expected.selector ?? ''}: ${chosen.length} candidates among ${rows.map(({ type }) => type)}`,
      );
      continue;
    }
    for (const [path, value] of Object.entries(expected.values ?? {})) {
      if (HIDDEN.has(`${expected.type}.${path}`)) continue;
      const place = MISPLACED[`${expected.type}.${path}`] ?? path;
      // The column has the wallet of the router, or the contract that waits for both assets: API v3 shows others.
      if (path === 'destination_secondary' && /^(stonfi|coffee)$/.test(String(valueAt(chosen[0]!, 'details.dex'))))
        continue;
      compare(expected.type, path, value, valueAt(chosen[0]!, place), failures);
    }
  }
  for (const expected of given['expected-blocks'] ?? []) {
    if (!blocks.some((block) => hasKind(block, expected.type))) failures.push(`no block ${expected.type}`);
  }
  return failures;
}

function hasKind(block: ActionBlock, kind: string): boolean {
  return block.kind === kind || block.parts.some((part) => hasKind(part, kind));
}

/** `{{ value.column == literal and … }}` */
function selects(selector: string, row: Json): boolean {
  const conditions = selector.replace(/^\{\{\s*|\s*\}\}$/g, '').split(/ and | or /);
  const holds = conditions.map((condition) => {
    const [, path, , operator, literal] =
      /^\(?value\.([\w.]+)(\|length)? (==|!=) (.+?)\)?$/.exec(condition.trim()) ?? [];
    if (path === undefined || literal === undefined) throw new Error(`a selector of another kind: ${selector}`);
    const found = valueAt(row, path);
    const value = /^'/.test(literal) ? literal.slice(1, -1) : literal === 'None' ? null : Number(literal);
    const isLength = condition.includes('|length');
    const equal = isLength
      ? (found as readonly unknown[]).length === value
      : found === value || String(found) === String(value);
    return operator === '==' ? equal : !equal;
  });
  return selector.includes(' or ') ? holds.some(Boolean) : holds.every(Boolean);
}

function valueAt(row: Json, path: string): unknown {
  let value: unknown = row;
  for (const part of path.replace(/\[(\d+)\]/g, '.$1').split('.')) {
    if (value === null || value === undefined) return undefined;
    value = part.endsWith('_data') && !(part in (value as Json)) ? dataOf(row, part) : member(value as Json, part);
  }
  return value;
}

/** Data of a type: its details, or the record of this name among them. */
function dataOf(row: Json, name: string): unknown {
  const details = row.details as Json;
  if (name in details) return details[name];
  if (name !== 'jvault_claim_data') return details;
  const claimed = details.claimed_rewards as readonly Json[];
  return { claimed_jettons: claimed.map(({ jetton }) => jetton), claimed_amounts: claimed.map(({ amount }) => amount) };
}

function member(value: Json, name: string): unknown {
  return name in value ? value[name] : value[RENAMED[name] ?? name];
}

function compare(type: string, path: string, expected: unknown, actual: unknown, failures: string[]): void {
  if (Array.isArray(expected)) {
    const items = actual as readonly unknown[] | undefined;
    if (items?.length !== expected.length)
      failures.push(`${type}.${path}: ${expected.length} items, not ${items?.length}`);
    else {
      for (const one of expected) {
        if (items.some((item) => difference(type, path, one, item).length === 0)) continue;
        failures.push(`${type}.${path}: no ${JSON.stringify(one)} among ${JSON.stringify(items)}`);
      }
    }
  } else if (expected !== null && typeof expected === 'object' && !('$bigint' in expected)) {
    for (const [name, value] of Object.entries(expected)) {
      if (HIDDEN.has(name) || HIDDEN.has(`${type}.${path}.${name}`)) continue;
      compare(
        type,
        `${path}.${name}`,
        value,
        actual === undefined || actual === null ? undefined : member(actual as Json, name),
        failures,
      );
    }
  } else {
    const wanted =
      expected !== null && typeof expected === 'object' ? (expected as { $bigint: string }).$bigint : expected;
    const isSame = (wanted === null && (actual === null || actual === undefined)) || sameValue(wanted, actual);
    if (!isSame)
      failures.push(
        `${type}.${path}: ${String(wanted)} is ${typeof actual === 'object' ? JSON.stringify(actual) : String(actual)}`,
      );
  }
}

function sameValue(wanted: unknown, actual: unknown): boolean {
  return (
    wanted === actual ||
    (wanted !== null && actual !== null && actual !== undefined && String(wanted) === String(actual))
  );
}

function difference(type: string, path: string, expected: unknown, actual: unknown): string[] {
  const failures: string[] = [];
  compare(type, path, expected, actual, failures);
  return failures;
}
