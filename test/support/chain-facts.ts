import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { signatureSetOf } from '#formats/proofs/block-proof.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { Block } from '#formats/tlb/block.js';
import { previousBlocks, shardContains } from '#formats/tlb/block-id.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { blockIdOfName } from '#test/support/block-proof-files.js';
import { parseChainName, readChain } from '#test/support/vector-files.js';

/** A transaction as a block lists it. */
export interface TransactionFacts {
  /** `0:` and 64 hex digits. */
  readonly account: string;
  readonly lt: bigint;
  readonly hash: string;
  /** Whether the account had none before, or had been deleted since. */
  readonly first: boolean;
}

/** What is in a block, read from its file without any proof. */
export interface BlockFacts {
  readonly id: BlockId;
  readonly bytes: Uint8Array;
  readonly gen_utime: number;
  readonly start_lt: bigint;
  readonly end_lt: bigint;
  readonly key_block: boolean;
  /** Newest blocks of all shards, for a block of the masterchain. */
  readonly tops: readonly BlockId[];
  /** In the order of account and lt. */
  readonly transactions: readonly TransactionFacts[];
  readonly signatures: SignatureSet | null;
}

/** All blocks of a chain that its last masterchain block commits. */
export interface ChainFacts {
  /** By seqno, from 1 on. */
  readonly masterchain: readonly BlockFacts[];
  /** Blocks of shards: those of an earlier masterchain block first, the same way within a shard. */
  readonly shards: readonly BlockFacts[];
}

export function chainFacts(folder: string): ChainFacts {
  const blocks = new Map<string, { readonly facts: BlockFacts; readonly prev: readonly string[] }>();
  const signatures = new Map<string, SignatureSet>();
  for (const { name, data } of readChain(folder)) {
    const named = parseChainName(name);
    if (named?.kind === 'proof') {
      const { signatures: set } = decodeCell(BlockProof, parseBocRoot(data));
      if (set !== null) signatures.set(named.rootHash, signatureSetOf(set.value));
    }
    if (named?.kind === 'block') blocks.set(named.rootHash, readBlock(blockIdOfName(named), data));
  }
  const masterchain: BlockFacts[] = [];
  for (const [hash, { facts }] of blocks) {
    if (isMasterchain(facts.id)) masterchain[facts.id.seqno] = { ...facts, signatures: signatures.get(hash) ?? null };
  }
  const shards: BlockFacts[] = [];
  const committed = new Set<string>();
  const commit = (hash: string): void => {
    const block = blocks.get(hash);
    if (block === undefined || committed.has(hash)) return;
    committed.add(hash);
    for (const before of block.prev) commit(before);
    shards.push(block.facts);
  };
  for (const block of masterchain) for (const top of block?.tops ?? []) commit(toHex(top.root_hash));
  return { masterchain, shards };
}

function readBlock(id: BlockId, bytes: Uint8Array): { readonly facts: BlockFacts; readonly prev: readonly string[] } {
  const block = decodeCell(Block, parseBocRoot(bytes));
  const { gen_utime, start_lt, end_lt, key_block, prev_ref } = block.info.value;
  const transactions: TransactionFacts[] = [];
  const { account_blocks, custom } = block.extra.value;
  for (const [, { account_addr, transactions: list }] of account_blocks.value) {
    const account = `${id.workchain}:${toHex(account_addr)}`;
    forEachEntry(list.root, 64, (key, value) => {
      const cell = value.loadRef();
      const first = decodeCell(Transaction, cell).prev_trans_lt === 0n;
      transactions.push({ account, lt: BigInt(`0x${toHex(key)}`), hash: toHex(cell.hash()), first });
    });
  }
  const tops = custom === null ? [] : [...shardDescrs(custom.value.shard_hashes)].map(blockOfShard);
  const prev = previousBlocks(prev_ref.value).map(({ root_hash }) => toHex(root_hash));
  return { facts: { id, bytes, gen_utime, start_lt, end_lt, key_block, tops, transactions, signatures: null }, prev };
}

/** Blocks on the way of a prefix through all splits and merges, oldest first. */
export function blocksOfPrefix({ masterchain, shards }: ChainFacts, workchain: number, prefix: bigint): BlockFacts[] {
  const all = workchain === -1 ? masterchain.slice(1) : shards.filter(({ id }) => id.workchain === workchain);
  return all.filter(({ id }) => shardContains(id.shard, prefix)).sort((a, b) => a.id.seqno - b.id.seqno);
}

/** Every transaction of every account, newest first. */
export function transactionsByAccount({ masterchain, shards }: ChainFacts): ReadonlyMap<string, TransactionFacts[]> {
  const accounts = new Map<string, TransactionFacts[]>();
  for (const { transactions } of [...masterchain.slice(1), ...shards]) {
    for (const each of transactions) {
      const list = accounts.get(each.account);
      if (list === undefined) accounts.set(each.account, [each]);
      else list.push(each);
    }
  }
  for (const list of accounts.values()) list.sort((a, b) => (a.lt < b.lt ? 1 : -1));
  return accounts;
}

/** Names a block in the message of an assertion. */
export function where({ id }: BlockFacts): string {
  return printPosition(id);
}
