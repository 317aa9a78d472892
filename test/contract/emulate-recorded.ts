import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { BlockTime, TraceRequest } from '#services/emulation/emulated-trace.js';

/** A recorded call of the emulation API. */
export interface RecordedCall {
  readonly n?: number;
  readonly i?: number;
  readonly name?: string;
  /** Unix seconds. */
  readonly at: number;
  readonly mc_seen: number;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: Json;
    readonly text?: string;
  };
  // biome-ignore lint/suspicious/noExplicitAny: JSON
  readonly response: { readonly status: number; readonly body?: any };
}

type Json = Readonly<Record<string, unknown>>;

export function readCalls(path: string): readonly RecordedCall[] {
  const text = brotliDecompressSync(readFileSync(path)).toString();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Answer = any;

/** Hashes of a recorded or written trace, breadth first. */
function orderOf({ trace }: Answer): readonly string[] {
  const order: string[] = [];
  const reached = [trace];
  for (const node of reached) {
    order.push(node.tx_hash);
    reached.push(...(node.children ?? []));
  }
  return order;
}

const HOP_BLOCKS = 3;

/** The block, the seed and the times that the recorded emulation had: with them the same transactions have the same hashes. */
export function conditionsOf(answer: Answer): Partial<TraceRequest> {
  const { mc_block_seqno: mc_seqno, rand_seed, transactions } = answer;
  const times = new Map<string, number>();
  for (const { block_ref, mc_block_seqno, now } of Object.values<Answer>(transactions)) {
    const hop = (mc_block_seqno - mc_seqno - 1) / HOP_BLOCKS;
    times.set(`${hop} ${block_ref.workchain} ${block_ref.shard}`, now);
  }
  return {
    mc_seqno,
    rand_seed: Buffer.from(rand_seed, 'base64'),
    blockTime: ({ workchain, shard }, hop): BlockTime | undefined => {
      const now = times.get(`${hop} ${workchain} ${shard.toString(16).toUpperCase()}`);
      return now === undefined ? undefined : { now };
    },
  };
}

/** A rule under which an answer may differ from the recorded one, and why. */
export interface EmulateRule {
  /** Regular expression of the place in the answer. */
  readonly at: string;
  /** Regular expression of the names of cases; absent: all. */
  readonly cases?: string;
  readonly reason: string;
}

export interface Difference {
  readonly at: string;
  readonly recorded: unknown;
  readonly written: unknown;
}

/** Lists that are sets in recorded answers. */
const SETS = /^actions\.\d+\.(transactions|accounts)$/;

/** Where two answers differ. */
export function* differences(recorded: unknown, written: unknown, at = ''): Generator<Difference> {
  if (Object.is(recorded, written)) return;
  if (typeof recorded !== 'object' || typeof written !== 'object' || recorded === null || written === null) {
    yield { at, recorded, written };
    return;
  }
  const [a, b] = SETS.test(at)
    ? [[...(recorded as string[])].sort(), [...(written as string[])].sort()]
    : [recorded as Json, written as Json];
  const inner = at === '' ? '' : `${at}.`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    yield* differences((a as Json)[key], (b as Json)[key], `${inner}${key}`);
  }
}

/** Actions with those of the same lt in one order: it is open in recorded answers. */
function inOrder(actions: readonly Answer[]): readonly Answer[] {
  const key = ({ type, transactions }: Answer) => `${type} ${[...transactions].sort().join()}`;
  return actions.toSorted((a, b) => {
    if (a.end_lt !== b.end_lt) return BigInt(a.end_lt) > BigInt(b.end_lt) ? -1 : 1;
    if (a.start_lt !== b.start_lt) return BigInt(a.start_lt) > BigInt(b.start_lt) ? -1 : 1;
    return key(a) < key(b) ? -1 : 1;
  });
}

/** An answer without hashes as keys: transactions in the order of the tree. */
export function comparable(answer: Answer): unknown {
  if (answer?.transactions === undefined) return answer;
  const { transactions, actions, ...rest } = answer;
  return { ...rest, actions: inOrder(actions), transactions: orderOf(answer).map((hash) => transactions[hash]) };
}
