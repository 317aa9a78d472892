import type { Cell as CoreCell } from '@ton/core';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { shardContains } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { coreCell } from '#test/contract/against-chain/core.js';
import { blockIdOfFile } from '#test/support/block-proof-files.js';
import { transactionCells } from '#test/support/block-transactions.js';
import {
  type BlockFacts,
  type ChainFacts,
  chainFacts,
  type TransactionFacts,
  transactionsByAccount,
} from '#test/support/chain-facts.js';
import { FULL } from '#test/support/full-depth.js';
import { statesOfChain, type Zerostates } from '#test/support/states-of-chain.js';
import { readBytes } from '#test/support/vector-files.js';

/** An account at a moment, in the cells of the other library. */
export interface AccountMoment {
  /** Raw. */
  readonly address: string;
  readonly mc: BlockFacts;
  /** When the newest block of its shard was made. */
  readonly shard_utime: number;
  /** `Account`; null when the state has no such account. */
  readonly account: CoreCell | null;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
}

const NOTHING = new Uint8Array(32);
/** What the files of a chain say, with the states after some of its masterchain blocks. */
export class ChainRecord {
  readonly facts: ChainFacts;
  /** By rising seqno, without a hole. */
  readonly masterchain: readonly BlockFacts[];
  readonly head: BlockFacts;
  /** All blocks, those of the masterchain first. */
  readonly blocks: readonly BlockFacts[];
  /** The masterchain seqnos whose states are known. */
  readonly seqnos: readonly number[];
  readonly zerostate: BlockId;
  readonly basechainZerostate: BlockId;
  /** Newest first, of every account that ever had a transaction. */
  readonly histories: ReadonlyMap<string, readonly TransactionFacts[]>;
  /** By root hash, hex. */
  readonly #byHash = new Map<string, BlockFacts>();
  readonly #states = new Map<string, ShardStateUnsplit>();
  readonly #transactions = new Map<string, ReadonlyMap<string, Cell>>();
  readonly #blockOf = new Map<string, BlockFacts>();

  constructor(folder: string, zerostates: Zerostates) {
    this.facts = chainFacts(folder);
    this.masterchain = this.facts.masterchain.slice(1);
    this.head = this.masterchain.at(-1)!;
    this.blocks = [...this.masterchain, ...this.facts.shards];
    this.histories = transactionsByAccount(this.facts);
    for (const block of this.blocks) {
      this.#byHash.set(toHex(block.id.root_hash), block);
      for (const { hash } of block.transactions) this.#blockOf.set(hash, block);
    }
    const files = {
      mc: readBytes(`${folder}/${zerostates.masterchain}`),
      base: readBytes(`${folder}/${zerostates.basechain}`),
    };
    this.zerostate = blockIdOfFile(files.mc, 0);
    this.basechainZerostate = { ...blockIdOfFile(files.base, 0), workchain: 0 };
    this.#keep(this.zerostate, parseBocRoot(files.mc));
    this.#keep(this.basechainZerostate, parseBocRoot(files.base));
    this.seqnos = moments(this.masterchain);
    const wanted = new Map<string, BlockId>();
    for (const seqno of this.seqnos) {
      const { id, tops } = this.facts.masterchain[seqno]!;
      for (const each of [id, ...tops]) wanted.set(toHex(each.root_hash), each);
    }
    for (const { link, root } of statesOfChain(folder, zerostates)) {
      const id = wanted.get(link.id.rootHash);
      if (id !== undefined) this.#keep(id, root);
    }
  }

  #keep(id: BlockId, root: Cell): void {
    this.#states.set(toHex(id.root_hash), decodeCell(ShardStateUnsplit, root));
  }

  /** The block of a root hash in hex, zerostates excluded. */
  byHash(hash: string): BlockFacts | undefined {
    return this.#byHash.get(hash);
  }

  /** The name of a block or a zerostate. */
  idOf(hash: string): BlockId {
    const block = this.#byHash.get(hash);
    if (block !== undefined) return block.id;
    const state = [this.zerostate, this.basechainZerostate].find((id) => toHex(id.root_hash) === hash);
    if (state === undefined) throw new RangeError(`no block ${hash}`);
    return state;
  }

  /** The block that a transaction is in. */
  blockOf(transactionHash: string): BlockFacts {
    return this.#blockOf.get(transactionHash)!;
  }

  /** The cell of a transaction, as the other library reads it from the file of its block. */
  transaction(hash: string): CoreCell {
    const block = this.blockOf(hash);
    const key = toHex(block.id.root_hash);
    let cells = this.#transactions.get(key);
    if (cells === undefined) {
      cells = new Map(transactionCells(block.bytes).map((cell) => [toHex(cell.hash()), cell]));
      this.#transactions.set(key, cells);
    }
    return coreCell(cells.get(hash)!);
  }

  /** The state after a block, one of {@link seqnos} or a newest shard block of one. */
  state(id: BlockId): ShardStateUnsplit {
    return this.#states.get(toHex(id.root_hash))!;
  }

  /** The newest block of the shard of an account, or the masterchain block itself. */
  topOf(seqno: number, address: string): BlockId {
    const [workchain, hex] = address.split(':') as [string, string];
    const mc = this.facts.masterchain[seqno]!;
    if (workchain === '-1') return mc.id;
    return mc.tops.find(({ shard }) => shardContains(shard, BigInt(`0x${hex.slice(0, 16)}`)))!;
  }

  account(seqno: number, address: string): AccountMoment {
    const mc = this.facts.masterchain[seqno]!;
    const state = this.state(this.topOf(seqno, address));
    const found = state.accounts.value.get(fromHex(address.split(':')[1]!.toLowerCase())!);
    const base = { address, mc, shard_utime: state.gen_utime };
    if (found === undefined) return { ...base, account: null, last_trans_lt: 0n, last_trans_hash: NOTHING };
    const { account, last_trans_lt, last_trans_hash } = found;
    return { ...base, account: coreCell(account.cell), last_trans_lt, last_trans_hash };
  }

  /** Raw addresses of all accounts after a block. */
  *addressesAt(seqno: number): Generator<string> {
    const mc = this.facts.masterchain[seqno]!;
    for (const id of [mc.id, ...mc.tops]) {
      for (const [key] of this.state(id).accounts.value) yield `${id.workchain}:${toHex(key)}`;
    }
  }
}

/** About `count` of them, evenly spread, the first and the last among them; all with TERN_FULL=1. */
export function some<T>(items: readonly T[], count: number): T[] {
  if (FULL || items.length <= count) return [...items];
  if (count === 1) return [items[0]!];
  return Array.from({ length: count }, (_, i) => items[Math.round((i * (items.length - 1)) / (count - 1))]!);
}

/** First and last blocks, the sides of splits, merges and key blocks, and some between. */
function moments(masterchain: readonly BlockFacts[]): number[] {
  const head = masterchain.length;
  const seqnos = new Set([1, 2, head - 1, head]);
  const shards = ({ tops }: BlockFacts) => tops.map(({ shard }) => shard).join();
  for (const [i, block] of masterchain.entries()) {
    const before = masterchain[i - 1];
    const turns = block.key_block || (before !== undefined && shards(before) !== shards(block));
    if (turns) for (const seqno of [i, i + 1, i + 2]) seqnos.add(seqno);
  }
  for (let i = 1; i < 8; i++) seqnos.add(Math.round((i * head) / 8));
  return [...seqnos].filter((seqno) => seqno >= 1 && seqno <= head).sort((a, b) => a - b);
}
