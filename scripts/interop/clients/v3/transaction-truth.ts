import { decodeMessageBody } from '#domain/message-bodies/decode-message-body.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { openCell } from '#formats/cells/slice.js';
import { Block } from '#formats/tlb/block.js';
import { shardsIntersect } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type Message, messageBodyCell, normalizedExternalHash } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toBase64 } from '#kernel/bytes.js';
import type { BlockFacts } from '#test/support/chain-facts.js';
import type { ChainTruth } from '../../chain-truth.js';

/** A message; what its kind does not have is null. Hashes are base64, accounts in raw form with upper-case digits. */
export interface MessageTruth {
  readonly hash: string;
  /** Of a external-in message. */
  readonly hash_norm: string | null;
  readonly body_hash: string;
  /** What its layout is called, if it is a known one; then answers have its fields. */
  readonly layout: string | null;
  /** Unsigned. */
  readonly opcode: number | null;
  readonly source: string | null;
  readonly destination: string | null;
  /** Nanotons. */
  readonly value: string | null;
  readonly created_lt: string | null;
  readonly created_at: string | null;
  readonly bounce: boolean | null;
  readonly bounced: boolean | null;
}

export interface TransactionTruth {
  readonly account: string;
  readonly hash: string;
  readonly lt: string;
  readonly now: number;
  /** Of the masterchain block that commits its block. */
  readonly mc_seqno: number;
  /** The shard as a signed decimal number. */
  readonly block: { readonly workchain: number; readonly shard: string; readonly seqno: number };
  readonly prev_hash: string;
  readonly prev_lt: string;
  readonly orig_status: string;
  readonly end_status: string;
  readonly total_fees: string;
  readonly aborted: boolean;
  readonly in_msg: MessageTruth | null;
  readonly out_msgs: readonly MessageTruth[];
}

/** All transactions of a chain. */
export interface TransactionTruths {
  readonly all: readonly TransactionTruth[];
  readonly byHash: ReadonlyMap<string, TransactionTruth>;
  /** Who sent a message and who received it, by its hash. */
  readonly sentBy: ReadonlyMap<string, TransactionTruth>;
  readonly receivedBy: ReadonlyMap<string, TransactionTruth>;
  /** By masterchain seqno; each list by rising lt. */
  readonly byRound: ReadonlyMap<number, readonly TransactionTruth[]>;
  /** By the account; each list from the newest on. */
  readonly byAccount: ReadonlyMap<string, readonly TransactionTruth[]>;
}

export function transactionTruths(truth: ChainTruth): TransactionTruths {
  const all = roundsOf(truth).flatMap(({ mc_seqno, blocks }) => blocks.flatMap((block) => ofBlock(block, mc_seqno)));
  all.sort((a, b) => compareLts(a.lt, b.lt));
  const found = {
    all,
    byHash: new Map(all.map((transaction) => [transaction.hash, transaction])),
    sentBy: new Map<string, TransactionTruth>(),
    receivedBy: new Map<string, TransactionTruth>(),
    byRound: new Map<number, TransactionTruth[]>(),
    byAccount: new Map<string, TransactionTruth[]>(),
  };
  for (const transaction of all) {
    if (transaction.in_msg !== null) found.receivedBy.set(transaction.in_msg.hash, transaction);
    for (const { hash } of transaction.out_msgs) found.sentBy.set(hash, transaction);
    listOf(found.byRound, transaction.mc_seqno).push(transaction);
    listOf(found.byAccount, transaction.account).unshift(transaction);
  }
  return found;
}

function listOf<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

export function compareLts(a: string, b: string): number {
  return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
}

/** A masterchain block and the blocks of shards that it is the first to commit. */
export interface BundleTruth {
  readonly mc_seqno: number;
  readonly blocks: readonly BlockFacts[];
}

/** The first masterchain block whose list of shards is as far as a block commits it. */
export function roundsOf({ masterchain, shards }: ChainTruth): BundleTruth[] {
  const bundles = masterchain.map((block) => ({ mc_seqno: block.id.seqno, blocks: [block] }));
  for (const block of shards) {
    const { workchain, shard, seqno } = block.id;
    const at = masterchain.findIndex(({ tops }) =>
      tops.some((top) => top.workchain === workchain && top.seqno >= seqno && shardsIntersect(top.shard, shard)),
    );
    bundles[at]!.blocks.push(block);
  }
  return bundles;
}

const STATUSES = {
  acc_state_uninit: 'uninit',
  acc_state_frozen: 'frozen',
  acc_state_active: 'active',
  acc_state_nonexist: 'nonexist',
} as const;

function ofBlock({ id, bytes }: BlockFacts, mc_seqno: number): TransactionTruth[] {
  const found: TransactionTruth[] = [];
  const block = { workchain: id.workchain, shard: BigInt.asIntN(64, id.shard).toString(), seqno: id.seqno };
  const { account_blocks } = decodeCell(Block, parseBocRoot(bytes)).extra.value;
  for (const [, { transactions }] of account_blocks.value) {
    forEachEntry(transactions.root, 64, (_, value) => {
      const cell = value.loadRef();
      const decoded = decodeCell(Transaction, cell);
      const description = decoded.description.value;
      found.push({
        account: raw(Address.ofParts(id.workchain, decoded.account_addr)),
        hash: toBase64(cell.hash()),
        lt: String(decoded.lt),
        now: decoded.now,
        ...{ mc_seqno, block },
        prev_hash: toBase64(decoded.prev_trans_hash),
        prev_lt: String(decoded.prev_trans_lt),
        orig_status: STATUSES[decoded.orig_status],
        end_status: STATUSES[decoded.end_status],
        total_fees: String(decoded.total_fees.grams),
        aborted: 'aborted' in description && description.aborted,
        in_msg: decoded.in_msg === null ? null : ofMessage(decoded.in_msg.cell, decoded.in_msg.value),
        out_msgs: [...decoded.out_msgs].map(([, message]) => ofMessage(message.cell, message.value)),
      });
    });
  }
  return found;
}

function ofMessage(cell: Cell, message: Message): MessageTruth {
  const { info } = message;
  const body = messageBodyCell(message);
  const isInternal = info.kind === 'int_msg_info';
  const source = accountOf(info.src);
  const destination = accountOf(info.dest);
  return {
    hash: toBase64(cell.hash()),
    hash_norm: info.kind === 'ext_in_msg_info' ? toBase64(normalizedExternalHash(message)) : null,
    body_hash: toBase64(body.hash()),
    layout: layoutOf(body),
    opcode: body.type === CellType.ordinary && body.bits >= 32 ? openCell(body).loadUint(32) : null,
    source: source === null ? null : raw(source),
    destination: destination === null ? null : raw(destination),
    value: isInternal ? String(info.value.grams) : null,
    created_lt: info.kind === 'ext_in_msg_info' ? null : String(info.created_lt),
    created_at: info.kind === 'ext_in_msg_info' ? null : String(info.created_at),
    bounce: isInternal ? info.bounce : null,
    bounced: isInternal ? info.bounced : null,
  };
}

function layoutOf(body: Cell): string | null {
  const { decoded } = decodeMessageBody(body);
  return decoded === null ? null : String((decoded as { readonly '@type'?: unknown })['@type']);
}

function raw(address: Address): string {
  return address.toRaw().toUpperCase();
}
