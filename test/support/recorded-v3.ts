import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { forEachEntry } from '#formats/cells/dict-iterate.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toBase64 } from '#kernel/bytes/bytes.js';
import { parseChainName, readBytes, readChain } from '#test/support/shared-data.js';

/** JSON as it was recorded. */
// biome-ignore lint/suspicious/noExplicitAny: answers of all methods
export type Recorded = any;

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
