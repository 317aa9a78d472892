import { tons } from '#app/cli/ton-amount.js';
import { ACTION_TYPES, type Action } from '#domain/actions/action-registry.js';
import type { DetailField, DetailFields } from '#domain/actions/action-type.js';
import type { Classification } from '#domain/actions/classify.js';
import { bodyOpcode, readComment } from '#domain/actions/comments.js';
import type { MissReason } from '#domain/actions/pattern.js';
import type { NearMiss } from '#domain/actions/recognise.js';
import type { TracedMessage, TracedTransaction, TraceInput } from '#domain/actions/trace-input.js';
import { opcodeName } from '#domain/message-bodies/decode-message-body.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { toBase64, toHex } from '#kernel/bytes.js';

/** A classified trace as text: messages as a tree with numbered transactions, actions, near misses. */
export function explanation(trace: TraceInput, result: Classification): string {
  const order = ordered(trace);
  const numbers = new Map(order.map((position, at) => [position, at + 1]));
  const parts = [
    `trace ${toBase64(trace.trace_id)}, ${count(order.length, 'transaction')}`,
    ...treeLines(trace, order),
    '',
    `${count(result.actions.length, 'action')}${result.state === 'ok' ? '' : ` (${result.state})`}`,
    ...result.actions.flatMap((action) => actionLines(action, numbers)),
  ];
  if (result.failure !== null)
    parts.push('', `failed in ${result.failure.pattern ?? 'the end'}: ${result.failure.error}`);
  if (result.nearMisses.length > 0) {
    parts.push('', count(result.nearMisses.length, 'near miss', 'near misses'));
    parts.push(...result.nearMisses.map((miss) => `  ${missText(miss, numbers)}`));
  }
  return `${parts.join('\n')}\n`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Positions of the transactions by logical time. */
function ordered({ transactions }: TraceInput): readonly number[] {
  const lt = (position: number) => transactions[position]!.lt;
  return transactions.map((_, i) => i).sort((a, b) => (lt(a) < lt(b) ? -1 : lt(a) > lt(b) ? 1 : a - b));
}

/** Transactions are numbered by logical time; deep traces are indented no further than this. */
const MAX_INDENT = 20;

function treeLines({ transactions }: TraceInput, order: readonly number[]): string[] {
  const depths = new Map<string, { readonly depth: number; readonly sender: number }>();
  const children = new Map<number, number[]>();
  const roots: number[] = [];
  const depthOf = new Map<number, number>();
  for (const position of order) {
    const { in_msg, out_msgs } = transactions[position]!;
    const from = in_msg === null ? undefined : depths.get(toHex(in_msg.hash));
    const depth = from === undefined ? 0 : from.depth + 1;
    depthOf.set(position, depth);
    if (from === undefined) roots.push(position);
    else {
      const known = children.get(from.sender);
      if (known === undefined) children.set(from.sender, [position]);
      else known.push(position);
    }
    for (const { hash } of out_msgs) depths.set(toHex(hash), { depth, sender: position });
  }
  const numbers = new Map(order.map((position, at) => [position, at + 1]));
  const lines: string[] = [];
  const left = roots.toReversed();
  for (let position = left.pop(); position !== undefined; position = left.pop()) {
    const transaction = transactions[position]!;
    const indent = '  '.repeat(Math.min(depthOf.get(position)!, MAX_INDENT) + 1);
    lines.push(`${indent}[${numbers.get(position)}] ${transactionText(transaction)}`);
    for (const message of transaction.out_msgs) {
      if (message.destination === null) lines.push(`${indent}  event ${opcodeText(message)}`);
    }
    left.push(...(children.get(position) ?? []).toReversed());
  }
  return lines;
}

function transactionText({ account, in_msg, aborted, exit_code, skipped, orig_status, end_status }: TracedTransaction) {
  const words = [short(account)];
  if (in_msg !== null) {
    const value = in_msg.value === null ? 'external' : `${tons(in_msg.value)} TON`;
    words.push(`← ${opcodeText(in_msg)}, ${value}`);
  }
  if (orig_status !== 'active' && end_status === 'active') words.push('(deployed)');
  if (aborted) words.push(`(aborted: ${skipped ?? `exit code ${exit_code ?? 0}`})`);
  return words.join(' ');
}

function opcodeText({ body }: TracedMessage): string {
  const opcode = bodyOpcode(body);
  if (opcode === null) return 'no opcode';
  const { text } = readComment(body);
  if (opcode === 0) return text === null ? 'comment' : `comment ${JSON.stringify(text)}`;
  const hex = `0x${opcode.toString(16).padStart(8, '0')}`;
  const name = opcodeName(opcode);
  return name === null ? hex : `${name} ${hex}`;
}

/** The workchain and the first and last digits: enough to compare accounts of one trace. */
function short(address: Address): string {
  const raw = address.toRaw();
  const colon = raw.indexOf(':');
  return `${raw.slice(0, colon + 7)}…${raw.slice(-4)}`;
}

function actionLines(action: Action, numbers: ReadonlyMap<number, number>): string[] {
  const about = [
    action.success ? '' : 'failed',
    action.ancestor_types.length > 0 ? `in ${action.ancestor_types.at(-1)}` : '',
  ];
  const notes = about.filter((word) => word !== '').join(', ');
  const where = action.transactions.map((position) => numbers.get(position)).join(' ');
  const { fields } = ACTION_TYPES.get(action.type)!;
  const details = detailLines(fields, action.details as Readonly<Record<string, unknown>>, '      ');
  return [`  ${action.type}${notes === '' ? '' : ` (${notes})`} [${where}]`, ...details];
}

function detailLines(fields: DetailFields, values: Readonly<Record<string, unknown>>, indent: string): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const value = values[name];
    if (value === null || value === undefined) return [];
    if (field.kind === 'record') {
      const inner = detailLines(field.fields, value as Readonly<Record<string, unknown>>, `${indent}  `);
      return inner.length === 0 ? [] : [`${indent}${name}:`, ...inner];
    }
    if (field.kind === 'list') {
      return (value as readonly Readonly<Record<string, unknown>>[]).flatMap((one, i) => [
        `${indent}${name}[${i}]:`,
        ...detailLines(field.fields, one, `${indent}  `),
      ]);
    }
    const shown = valueText(field, value);
    return shown === '' ? [] : [`${indent}${name}: ${shown}`];
  });
}

function valueText(field: DetailField, value: unknown): string {
  switch (field.kind) {
    case 'addresses':
      return (value as readonly Address[]).join(' ');
    case 'hex':
      return toHex(value as Uint8Array);
    case 'hash':
      return toBase64(value as Uint8Array);
    case 'opcode':
      return `0x${(value as number).toString(16).padStart(8, '0')}`;
    case 'boc':
    case 'bare_boc':
      return toBase64(serializeBoc(value as Cell));
    case 'currencies':
      return Array.from(value as ReadonlyMap<number, bigint>, ([id, amount]) => `${amount} of ${id}`).join(', ');
    case 'text':
      return JSON.stringify(value);
    default:
      return String(value);
  }
}

function missText({ pattern, transaction, reason }: NearMiss, numbers: ReadonlyMap<number, number>): string {
  return `${pattern} at [${numbers.get(transaction)}]: ${reasonText(reason)}`;
}

/** Why a pattern did not match, as a sentence. */
function reasonText(reason: MissReason): string {
  switch (reason.kind) {
    case 'body':
      return `the body of ${reason.step} is malformed at bit ${reason.bit}${reason.field === '' ? '' : ` (${reason.field})`}: ${reason.problem}`;
    case 'missing-step':
      return `nothing that follows is ${reason.step}`;
    case 'interface':
      return `${short(reason.address)} is not known as ${reason.wanted} (${reason.step})`;
    case 'condition':
      return `${reason.step}: ${reason.problem}`;
  }
}
