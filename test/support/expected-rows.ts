import { createHash } from 'node:crypto';
import { inboundKind } from '#domain/traces/trace-assembler.js';
import type { MessageRow } from '#drivers/store/tables.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type Message, messageBodyCell, normalizedExternalHash } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { compareBytes, toBase64, toHex } from '#kernel/bytes.js';
import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import { transactionCells } from '#test/support/block-transactions.js';

/** A transaction's row as it follows from the codecs that decode everything. */
export interface ExpectedTransaction {
  readonly hash: string;
  readonly lt: bigint;
  readonly now: number;
  readonly account: Address['hash'];
  readonly workchain: number;
  readonly shard: bigint;
  readonly block_seqno: number;
  readonly account_key: bigint;
  readonly hash_key: bigint;
  readonly in_msg_key: bigint | null;
  readonly in_msg: { readonly hash: string; readonly kind: string } | null;
  readonly out_msgs: readonly { readonly hash: string; readonly external: boolean }[];
  readonly state_hash: string;
  /** Position 0: the one that it received. */
  readonly messages: readonly Omit<MessageRow, 'tx_id'>[];
  readonly cell: Cell;
}

/** All transactions of a masterchain block in the order of their ids. */
export function expectedTransactions(bundle: McBlockBundle): ExpectedTransaction[] {
  const found = bundle.blocks.flatMap(({ id, data }) => {
    const { start_lt } = decodeCell(Block, parseBocRoot(data)).info.value;
    return transactionCells(data).map((cell) => {
      const transaction = decodeCell(Transaction, cell);
      const { lt, now, account_addr: account, in_msg, out_msgs } = transaction;
      const sent = [...out_msgs];
      const messages = sent.map(([at, { cell, value }]) => messageRow(cell, value, at + 1));
      if (in_msg !== null) messages.unshift(messageRow(in_msg.cell, in_msg.value, 0));
      return {
        hash: toHex(cell.hash()),
        lt,
        now,
        account,
        workchain: id.workchain,
        shard: BigInt.asIntN(64, id.shard),
        block_seqno: id.seqno,
        account_key: accountKeyOf(id.workchain, account),
        hash_key: rankedKey(cell.hash()),
        in_msg_key: in_msg === null ? null : rankedKey(in_msg.cell.hash()),
        in_msg:
          in_msg === null ? null : { hash: toHex(in_msg.cell.hash()), kind: inboundKind(in_msg.value.info, start_lt) },
        out_msgs: sent.map(([, { cell, value }]) => ({
          hash: toHex(cell.hash()),
          external: value.info.kind === 'ext_out_msg_info',
        })),
        state_hash: toHex(transaction.state_update.value.new_hash),
        messages,
        cell,
      };
    });
  });
  return found.sort((a, b) => Number(a.lt - b.lt) || a.workchain - b.workchain || compareBytes(a.account, b.account));
}

function messageRow(cell: Cell, message: Message, position: number): Omit<MessageRow, 'tx_id'> {
  const { info } = message;
  const body = messageBodyCell(message);
  const external = info.kind === 'ext_in_msg_info';
  const normalised = external ? normalizedExternalHash(message) : cell.hash();
  const opcode = body.type === CellType.ordinary && body.bits >= 32 ? openCell(body).loadInt(32) : null;
  return {
    msg_key: rankedKey(cell.hash()),
    body_key: rankedKey(body.hash()),
    norm_key: toHex(normalised) === toHex(cell.hash()) ? null : rankedKey(normalised),
    source_key: keyOf(accountOf(info.src)),
    destination_key: keyOf(accountOf(info.dest)),
    created_lt: external ? null : info.created_lt,
    created_at: external ? null : info.created_at,
    opcode,
    position,
  };
}

function keyOf(address: Address | null): bigint | null {
  return address === null ? null : accountKeyOf(address.workchain, address.hash);
}

function accountKeyOf(workchain: number, id: Uint8Array): bigint {
  return createHash('sha256')
    .update(new Uint8Array([workchain]))
    .update(id)
    .digest()
    .readBigInt64BE();
}

const DIGITS = '+/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The key of a hash, from its base64 text. */
export function rankedKey(hash: Uint8Array): bigint {
  let key = 0n;
  for (const digit of toBase64(hash).slice(0, 10)) key = key * 64n + BigInt(DIGITS.indexOf(digit));
  return key;
}
