import { readFileSync } from 'node:fs';
import type { IndexedTransaction, StateSummary } from '#drivers/store/read/index-types.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import { parseChainName, readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

/** JSON as it was recorded. */
// biome-ignore lint/suspicious/noExplicitAny: answers of all methods
export type Recorded = any;

/** Of the recorded network, from its zerostate on. */
export const RECORDED_GLOBAL_VERSION = 13;

/** A request to the reference service of API v3, and its answer. */
export interface RecordedV3 {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string | null;
  readonly status: number;
  readonly response: Recorded;
}

/** @param path of `v3-recordings.jsonl.gz` */
export function readV3Recordings(path: string): RecordedV3[] {
  const lines = Buffer.from(readBytes(path)).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

/** A transaction in the files of a chain. */
export interface ChainTransaction {
  /** Bag with its cells. */
  readonly boc: Uint8Array;
  readonly workchain: number;
  /** Unsigned. */
  readonly shard: bigint;
  readonly seqno: number;
}

/** All transactions of the blocks in a folder, by their hashes in base64. */
export function chainTransactions(folder: string): ReadonlyMap<string, ChainTransaction> {
  const byHash = new Map<string, ChainTransaction>();
  for (const { name, data } of readChain(folder)) {
    const named = parseChainName(name);
    if (named?.kind !== 'block') continue;
    const { workchain, seqno } = named;
    const shard = BigInt(`0x${named.shard}`);
    const { account_blocks } = decodeCell(Block, parseBocRoot(data)).extra.value;
    for (const [, { transactions }] of account_blocks.value) {
      forEachEntry(transactions.root, 64, (_, value) => {
        const cell = value.loadRef();
        byHash.set(toBase64(cell.hash()), { boc: serializeBoc(cell), workchain, shard, seqno });
      });
    }
  }
  return byHash;
}

/** A transaction as the index gives it; what its cells do not tell is taken from an answer about it. */
export function indexedTransaction(answer: Recorded, { boc, ...block }: ChainTransaction): IndexedTransaction {
  return {
    id: 0n,
    mc_seqno: answer.mc_block_seqno,
    block,
    global_version: RECORDED_GLOBAL_VERSION,
    hash_key: 0n,
    trace_root: 0n,
    isFinal: false,
    trace_id: answer.trace_id === undefined ? null : bytesOf(answer.trace_id),
    cell: parseBocRoot(boc),
    state_before: stateOf(answer.account_state_before),
    state_after: stateOf(answer.account_state_after),
  };
}

function stateOf(state: Recorded): StateSummary | null {
  if (state.account_status === null) return null;
  const hash = (text: string | null) => (text === null ? null : bytesOf(text));
  return {
    status: state.account_status,
    balance: BigInt(state.balance),
    extra_currencies: new Map(
      Object.entries<string>(state.extra_currencies).map(([id, amount]) => [Number(id), BigInt(amount)]),
    ),
    frozen_hash: hash(state.frozen_hash),
    data_hash: hash(state.data_hash),
    code_hash: hash(state.code_hash),
  };
}

function bytesOf(text: string): Uint8Array {
  return fromBase64(text) as Uint8Array;
}

/** The transactions of `vectors/v3`, and what the reference service answers about them. */
export function vectorTransactions(): { name: string; answer: Recorded; transaction: IndexedTransaction }[] {
  const rows: Recorded[] = JSON.parse(readFileSync(vectorPath('v3/transactions.json'), 'utf8'));
  return rows.map(({ name, boc, shard, answer }) => {
    const { workchain, seqno } = answer.block_ref;
    const cells = { boc: bytesOf(boc), workchain, shard: BigInt(`0x${shard}`), seqno };
    return { name, answer, transaction: indexedTransaction(answer, cells) };
  });
}
