import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import { AccountStatusCode } from '#drivers/store/stored-state.js';
import type { Address } from '#formats/address/address.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { openCell } from '#formats/cells/slice.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message, messageBodyCell, messageInit, normalizedExternalHash } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { MessageCellReader, TransactionCellReader } from '#services/indexer/rows/block-reader.js';
import { AccountCellReader } from '#services/indexer/rows/state-reader.js';

/** One structure as both readers see it; all of it in text and numbers. */
export interface TwoReadings {
  readonly reader: Readonly<Record<string, unknown>>;
  readonly codec: Readonly<Record<string, unknown>>;
}

const transaction = new TransactionCellReader();
const message = new MessageCellReader();
const account = new AccountCellReader();

/**
 * Every field that the indexer's reader of transactions has, from it and from the codec.
 *
 * @param cell of a table
 * @throws as the codec: the codec reads first
 */
export function transactionReadings(cell: Cell): TwoReadings {
  const { table, index } = cell as TableCell;
  const { lt, now, in_msg, out_msgs, state_update } = decodeCell(Transaction, cell);
  const sent = [...out_msgs];
  const codec = {
    // Rows hold it as int8.
    lt: BigInt.asIntN(64, lt),
    now,
    in_msg: in_msg === null ? null : toHex(in_msg.cell.hash()),
    out_msgs: sent.map(([number, { cell: sentCell }]) => `${number} ${toHex(sentCell.hash())}`),
    state_hash: toHex(state_update.value.new_hash),
  };
  const failure = failureOf(() => transaction.read(table, index));
  if (failure !== null) return { reader: { failure }, codec };
  const hashAt = (line: number) => toHex(table.cell(line).hash());
  const reader = {
    lt: transaction.lt,
    now: transaction.now,
    in_msg: transaction.in_msg < 0 ? null : hashAt(transaction.in_msg),
    out_msgs: transaction.out_msgs.map((line, i) => `${transaction.out_numbers[i]} ${hashAt(line)}`),
    state_hash: toHex(transaction.stateHashAfter(table)),
  };
  return { reader, codec };
}

/** As {@link transactionReadings}, of a message. */
export function messageReadings(cell: Cell): TwoReadings {
  const { table, index } = cell as TableCell;
  const decoded = decodeCell(Message, cell);
  const { info } = decoded;
  const init = messageInit(decoded);
  const body = messageBodyCell(decoded);
  const external = info.kind === 'ext_in_msg_info';
  const normalized = external ? normalizedExternalHash(decoded) : null;
  const source = accountOf(info.src);
  const codec = {
    kind: info.kind,
    fromAccountZero:
      info.kind === 'int_msg_info' && source?.workchain === -1 && source.hash.every((byte) => byte === 0),
    source_key: keyOf(source),
    destination_key: keyOf(accountOf(info.dest)),
    created_lt: external ? null : BigInt.asIntN(64, info.created_lt),
    created_at: external ? null : info.created_at,
    opcode: body.type === CellType.ordinary && body.bits >= 32 ? openCell(body).loadInt(32) : null,
    body_key: hashKey(body.hash()),
    norm_key: normalized === null || bytesEqual(normalized, cell.hash()) ? null : hashKey(normalized),
    code: init?.code == null ? null : toHex(init.code.hash()),
    data: init?.data == null ? null : toHex(init.data.hash()),
  };
  const failure = failureOf(() => message.read(table, index));
  if (failure !== null) return { reader: { failure }, codec };
  const hashAt = (line: number) => (line < 0 ? null : toHex(table.cell(line).hash()));
  const { kind, fromAccountZero, source_key, destination_key, created_lt, created_at, opcode } = message;
  const reader = {
    ...{ kind, fromAccountZero, source_key, destination_key, created_lt, created_at, opcode },
    body_key: message.body_key,
    norm_key: message.norm_key,
    code: hashAt(message.code),
    data: hashAt(message.data),
  };
  return { reader, codec };
}

/** As {@link transactionReadings}, of an account whose cells are all there. */
export function accountReadings(cell: Cell): TwoReadings {
  const { table, index } = cell as TableCell;
  const decoded = decodeCell(Account, cell);
  const storage = decoded.kind === 'account_none' ? null : decoded.storage;
  const state = storage?.state ?? null;
  const init = state?.kind === 'account_active' ? state.state_init : null;
  const extra = storage === null ? [] : [...storage.balance.other];
  const codec = {
    status: state === null ? AccountStatusCode.nonexist : AccountStatusCode[STATUS[state.kind]],
    balance: storage?.balance.grams ?? 0n,
    extra_currencies: extra,
    code: init?.code == null ? null : toHex(init.code.hash()),
    data: init?.data == null ? null : toHex(init.data.hash()),
    frozen_hash: state?.kind === 'account_frozen' ? toHex(state.state_hash) : null,
  };
  const failure = failureOf(() => account.read(table, index));
  if (failure !== null) return { reader: { failure }, codec };
  const hashAt = (line: number) => (line < 0 ? null : toHex(table.cell(line).hash()));
  const reader = {
    status: account.status,
    balance: account.balance,
    extra_currencies: [...(account.extra_currencies ?? [])],
    code: hashAt(account.code),
    data: hashAt(account.data),
    frozen_hash: account.frozen_hash === null ? null : toHex(account.frozen_hash),
  };
  return { reader, codec };
}

/** The code of the error that a reader throws where the codec accepted the cell; null: none. */
function failureOf(read: () => void): string | null {
  try {
    read();
    return null;
  } catch (error) {
    return isTernError(error) ? error.code : String(error);
  }
}

const STATUS = { account_uninit: 'uninit', account_active: 'active', account_frozen: 'frozen' } as const;

function keyOf(address: Address | null): bigint | null {
  return address === null ? null : accountKey(addressBytes(address));
}
