import {
  type Address,
  Cell,
  Dictionary,
  loadShardAccount,
  loadTransaction,
  type ShardAccount,
  type Transaction,
} from '@ton/core';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell as TernCell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { ShardAccount as TernShardAccount } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import type { BlockFacts } from '#test/support/chain-facts.js';
import type { ChainTruth } from '../../chain-truth.js';
import { normalizedHash } from './normalized-hash.js';

/** A message in a block: its cell, as it is there. */
export interface LedgerMessage {
  readonly cell: Cell;
  readonly message: NonNullable<Transaction['inMessage']>;
}

/** A transaction in a block, and those that took the messages it sent. */
export interface LedgerTransaction {
  /** Raw, hexadecimal digits in upper case. */
  readonly account: string;
  /** base64 */
  readonly hash: string;
  readonly transaction: Transaction;
  readonly incoming: LedgerMessage | null;
  /** In the order in which they were sent. */
  readonly outgoing: readonly LedgerMessage[];
  readonly block: BlockFacts;
  /** Of the masterchain block that commits its block. */
  readonly masterchainSeqno: number;
  readonly children: LedgerTransaction[];
}

/**
 * What the blocks and the states of a chain say. Blocks are taken apart by their TL-B down to transactions and accounts, which
 * @ton/core reads.
 */
export class Ledger {
  readonly #truth: ChainTruth;
  readonly #byExternal = new Map<string, LedgerTransaction>();
  readonly transactions: readonly LedgerTransaction[];

  constructor(truth: ChainTruth) {
    this.#truth = truth;
    const blocks = [...truth.masterchain, ...truth.shards];
    const committed = committingSeqnos(truth);
    this.transactions = blocks.flatMap((block) => [...transactionsOf(block, committed)]);
    const taken = new Map<string, LedgerTransaction>();
    for (const each of this.transactions) {
      if (each.incoming === null) continue;
      const { cell, message } = each.incoming;
      taken.set(base64(cell), each);
      if (message.info.type === 'external-in') {
        this.#byExternal.set(normalizedHash(message.info.dest, message.body), each);
      }
    }
    for (const each of this.transactions) {
      for (const { cell } of each.outgoing) {
        const child = taken.get(base64(cell));
        if (child !== undefined) each.children.push(child);
      }
    }
  }

  get head(): number {
    return this.#truth.head.id.seqno;
  }

  /** The transaction of an external message, by its normalised hash in base64. @throws when there is none */
  transactionOf(hash: string): LedgerTransaction {
    const found = this.#byExternal.get(hash);
    if (found === undefined) throw new Error(`no block has a transaction of the external message ${hash}`);
    return found;
  }

  /** Whether an external message, by its normalised hash in base64, got into a block. */
  has(hash: string): boolean {
    return this.#byExternal.has(hash);
  }

  /** The account after the head, with its cell; `null` where there is none. */
  account(address: Address): { readonly shardAccount: ShardAccount; readonly cell: Cell } | null {
    const { workChain, hash } = address;
    const holder = this.#truth.states.find(
      ({ id }) => id.workchain === workChain && shardContains(id.shard, accountPrefix(hash)),
    );
    const found = holder?.state.accounts.value.get(hash);
    if (found === undefined || found === null) return null;
    const cell = coreCell(encodeCell(TernShardAccount, found));
    return { shardAccount: loadShardAccount(cell.beginParse()), cell: cell.refs[0]! };
  }

  /** Public libraries after the head: hashes in hexadecimal. */
  libraries(): readonly string[] {
    const { state } = this.#truth.states[0]!;
    return [...state.totals.value.libraries].map(([hash]) => toHex(hash));
  }
}

/** Seqnos of the masterchain blocks that commit each block, by root hash. */
function committingSeqnos({ masterchain, shards }: ChainTruth): ReadonlyMap<string, number> {
  const seqnos = new Map<string, number>();
  for (const { id, tops } of masterchain) {
    seqnos.set(toHex(id.root_hash), id.seqno);
    for (const top of tops) {
      for (const { id: shard } of shards) {
        const isOf = shardContains(top.shard, shard.shard) || shardContains(shard.shard, top.shard);
        const name = toHex(shard.root_hash);
        if (shard.workchain === top.workchain && isOf && shard.seqno <= top.seqno && !seqnos.has(name)) {
          seqnos.set(name, id.seqno);
        }
      }
    }
  }
  return seqnos;
}

function* transactionsOf(block: BlockFacts, committed: ReadonlyMap<string, number>): Generator<LedgerTransaction> {
  const masterchainSeqno = committed.get(toHex(block.id.root_hash))!;
  const { account_blocks } = decodeCell(Block, parseBocRoot(block.bytes)).extra.value;
  for (const [, { account_addr, transactions }] of account_blocks.value) {
    const account = `${block.id.workchain}:${toHex(account_addr).toUpperCase()}`;
    const cells: TernCell[] = [];
    forEachEntry(transactions.root, 64, (_, value) => void cells.push(value.loadRef()));
    for (const each of cells) {
      const cell = coreCell(each);
      const transaction = loadTransaction(cell.beginParse());
      const messages = cell.refs[0]!.beginParse();
      const incoming = messages.loadMaybeRef();
      const outgoing = messages.loadDict(Dictionary.Keys.Uint(15), Dictionary.Values.Cell());
      yield {
        ...{ account, hash: base64(cell), transaction, block, masterchainSeqno, children: [] },
        incoming: incoming === null ? null : { cell: incoming, message: transaction.inMessage! },
        outgoing: outgoing.keys().map((i) => ({ cell: outgoing.get(i)!, message: transaction.outMessages.get(i)! })),
      };
    }
  }
}

/** The same cell for @ton/core. */
function coreCell(cell: TernCell): Cell {
  return Cell.fromBoc(Buffer.from(serializeBoc(cell)))[0]!;
}

export function base64(cell: Cell): string {
  return cell.hash().toString('base64');
}

/** All transactions of a trace, each before those that follow from it. */
export function flatten(root: LedgerTransaction): readonly LedgerTransaction[] {
  return [root, ...root.children.flatMap(flatten)];
}
