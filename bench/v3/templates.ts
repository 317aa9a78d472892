import { TraceAssembler } from '#domain/traces/trace-assembler.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { loadTransaction, TransactionWriter } from '#drivers/store/stored-transaction.js';
import type { BlockRow, CodeRow } from '#drivers/store/tables.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { BatchAccounts, type LatestAccount } from '#services/indexer/rows/batch-accounts.js';
import { TransactionCellReader } from '#services/indexer/rows/block-reader.js';
import { buildBundleRows } from '#services/indexer/rows/build-rows.js';
import type { BundleTransaction } from '#services/indexer/rows/bundle-rows.js';
import { recordedBundles } from '../../test/support/recorded-bundles.js';
import { type MessageFields, messageFields } from './message-fields.js';

/** What a place in a transaction is filled with; numbers of nodes and accounts are those of the trace. */
export type Patch = { readonly bit: number } & (
  | { readonly field: 'account'; readonly account: number }
  /** The lt of a node, and so much more. */
  | { readonly field: 'lt'; readonly node: number; readonly plus: bigint }
  | { readonly field: 'now'; readonly node: number }
  | { readonly field: 'previous' }
  | { readonly field: 'token'; readonly isText: boolean }
);

/** A transaction of a trace. */
interface TemplateNode {
  /** Its whole bag of cells. */
  readonly boc: Uint8Array;
  readonly patches: readonly Patch[];
  readonly account: number;
  /** Masterchain blocks after the root of the trace. */
  readonly delay: number;
  readonly outs: number;
  readonly state_after: Uint8Array | null;
}

/** A trace that was recorded, to make others like it of. */
export interface TraceTemplate {
  readonly kind: 'transfer' | 'jetton' | 'nft' | 'wide';
  readonly nodes: readonly TemplateNode[];
  /** For each of its accounts, the kind of account that it is. */
  readonly accounts: readonly number[];
  readonly edges: number;
}

/** Accounts with the same code. */
interface AccountKind {
  /** One of them as it is stored. */
  readonly like: LatestAccount;
}

export interface Templates {
  readonly traces: readonly TraceTemplate[];
  readonly kinds: readonly AccountKind[];
  readonly codes: readonly CodeRow[];
  readonly masterchainBlock: BlockRow;
  readonly shardBlock: BlockRow;
  readonly globalVersion: number;
  readonly zerostate: { readonly root_hash: Uint8Array; readonly file_hash: Uint8Array };
}

const JETTON_TRANSFER = 0x0f8a7ea5;
const NFT_TRANSFER = 0x5fcc3d14;
const MOST_OF_A_KIND = 40;
const WIDE_FROM = 16;
const WIDE_TO = 80;

/** Traces of a recorded chain that can be made again with other accounts, times and hashes. */
export function readTemplates(chain: string): Templates {
  const { bundles, zerostates, globalVersion } = recordedBundles(chain);
  const writer = new TransactionWriter();
  const assembler = new TraceAssembler();
  const fold = new BatchAccounts();
  const traces = new Map<bigint, BundleTransaction[]>();
  let masterchainBlock: BlockRow | null = null;
  let shardBlock: BlockRow | null = null;
  for (const bundle of bundles) {
    const rows = buildBundleRows(bundle, { writer, globalVersion });
    fold.add(rows);
    for (const block of rows.blocks) {
      if (block.workchain === -1) masterchainBlock = block;
      else if (block.shard === -(1n << 63n)) shardBlock = block;
    }
    for (const transaction of rows.transactions) {
      const root = assembler.add(transaction);
      const list = traces.get(root);
      if (list === undefined) traces.set(root, [transaction]);
      else list.push(transaction);
    }
  }
  const codes = writer.codes;
  const cellOf = new Map(codes.map(({ code_hash, boc }) => [toHex(code_hash), parseBocRoot(boc)]));
  const accounts = new Map(fold.finish(new Map()).map((account) => [accountKey(account.address), account]));
  const maker = new TemplateMaker(cellOf, accounts);
  const made = new Map<string, TraceTemplate[]>();
  const complete = new Set(
    assembler
      .finish()
      .started.filter((trace) => trace.state === 'complete' && trace.nodes <= WIDE_TO)
      .map(({ root }) => root),
  );
  for (const [root, transactions] of traces) {
    if (!complete.has(root)) continue;
    const template = maker.make(transactions);
    if (template === null) continue;
    const list = made.get(template.kind) ?? [];
    if (list.length < MOST_OF_A_KIND) made.set(template.kind, [...list, template]);
  }
  const { root_hash, file_hash } = zerostates.find(({ id }) => id.workchain === -1)!.id;
  return {
    traces: [...made.values()].flat(),
    kinds: maker.kinds,
    codes,
    masterchainBlock: masterchainBlock!,
    shardBlock: shardBlock!,
    globalVersion: globalVersion(0),
    zerostate: { root_hash, file_hash },
  };
}

class TemplateMaker {
  readonly kinds: AccountKind[] = [];
  readonly #kindOf = new Map<string, number>();
  readonly #cells: ReadonlyMap<string, Cell>;
  readonly #accounts: ReadonlyMap<bigint, LatestAccount>;
  readonly #reader = new TransactionCellReader();

  constructor(cells: ReadonlyMap<string, Cell>, accounts: ReadonlyMap<bigint, LatestAccount>) {
    this.#cells = cells;
    this.#accounts = accounts;
  }

  make(transactions: readonly BundleTransaction[]): TraceTemplate | null {
    const [root] = transactions;
    if (root!.in_msg?.kind !== 'external') return null;
    const accounts = new Map<string, number>();
    const kinds: number[] = [];
    const accountOf = (id: Uint8Array): number | null => {
      const known = accounts.get(toHex(id));
      if (known !== undefined) return known;
      const kind = this.#kind(id);
      if (kind === null) return null;
      kinds.push(kind);
      accounts.set(toHex(id), kinds.length - 1);
      return kinds.length - 1;
    };
    const sender = new Map<string, number>();
    const opcodes = new Set<number>();
    const nodes: TemplateNode[] = [];
    for (const [at, transaction] of transactions.entries()) {
      const node = this.#node(transactions, at, sender, accountOf, opcodes);
      if (node === null) return null;
      nodes.push(node);
      for (const { hash } of transaction.out_msgs) sender.set(toHex(hash), at);
    }
    const edges = nodes.length - 1;
    let kind: TraceTemplate['kind'] | null = null;
    if (nodes.length >= WIDE_FROM) kind = 'wide';
    else if (opcodes.has(JETTON_TRANSFER) && nodes.length <= 7) kind = 'jetton';
    else if (opcodes.has(NFT_TRANSFER) && nodes.length <= 6) kind = 'nft';
    else if (nodes.length === 2) kind = 'transfer';
    return kind === null ? null : { kind, nodes, accounts: kinds, edges };
  }

  #node(
    transactions: readonly BundleTransaction[],
    at: number,
    sender: ReadonlyMap<string, number>,
    accountOf: (id: Uint8Array) => number | null,
    opcodes: Set<number>,
  ): TemplateNode | null {
    const transaction = transactions[at]!;
    if (transaction.workchain !== 0) return null;
    const stored = loadTransaction(transaction.boc, (hash) => this.#cells.get(toHex(hash)) ?? null);
    const boc = serializeBoc(stored);
    const { table, index } = parseBocRoot(boc) as TableCell;
    const decoded = decodeCell(Transaction, stored);
    const account = accountOf(decoded.account_addr);
    if (account === null) return null;
    const start = table.dataStart[index]! * 8;
    const patches: Patch[] = [
      { bit: start + 4, field: 'account', account },
      { bit: start + 260, field: 'lt', node: at, plus: 0n },
      { bit: start + 644, field: 'now', node: at },
    ];
    if (decoded.orig_status !== 'acc_state_nonexist') patches.push({ bit: start + 324, field: 'previous' });
    this.#reader.read(table, index);
    const received = this.#reader.in_msg;
    if (received < 0) return null;
    const incoming = messageFields(table, received);
    if (incoming === null) return null;
    const from = sender.get(toHex(transaction.in_msg!.hash));
    if (at > 0 && from === undefined) return null;
    if (at === 0 && incoming.token === null) return null;
    const { bytes } = table;
    const before = { node: from ?? 0, lt: transactions[from ?? 0]!.lt };
    if (!patchMessage(bytes, incoming, before, accountOf, patches)) return null;
    if (incoming.opcode !== null) opcodes.add(incoming.opcode);
    for (const out of this.#reader.out_msgs) {
      const fields = messageFields(table, out);
      if (fields === null || !patchMessage(bytes, fields, { node: at, lt: decoded.lt }, accountOf, patches))
        return null;
    }
    return {
      boc,
      patches,
      account,
      delay: transaction.mc_seqno - transactions[0]!.mc_seqno,
      outs: this.#reader.out_msgs.length,
      state_after: transaction.state_after,
    };
  }

  /** What kind of account it is; null for one that is not known whole. */
  #kind(id: Uint8Array): number | null {
    const like = this.#accounts.get(accountKey(addressBytes(Address.ofParts(0, id))));
    if (like === undefined || (like.data_hash !== null && like.data_boc === null)) return null;
    const key = like.code_hash === null ? `status ${like.status}` : toHex(like.code_hash);
    const known = this.#kindOf.get(key);
    if (known !== undefined) return known;
    this.kinds.push({ like });
    this.#kindOf.set(key, this.kinds.length - 1);
    return this.kinds.length - 1;
  }
}

function patchMessage(
  bytes: Uint8Array,
  { source, destination, created_lt, token }: MessageFields,
  sender: { readonly node: number; readonly lt: bigint },
  accountOf: (id: Uint8Array) => number | null,
  patches: Patch[],
): boolean {
  for (const bit of [source, destination]) {
    if (bit === null) continue;
    const account = accountOf(bytesAt(bytes, bit, 32));
    if (account === null) return false;
    patches.push({ bit, field: 'account', account });
  }
  if (created_lt !== null) {
    const lt = new DataView(bytesAt(bytes, created_lt, 8).buffer).getBigUint64(0);
    patches.push({ bit: created_lt, field: 'lt', node: sender.node, plus: lt - sender.lt });
    patches.push({ bit: created_lt + 64, field: 'now', node: sender.node });
  }
  if (token !== null) patches.push({ bit: token.bit, field: 'token', isText: token.isText });
  return true;
}

function bytesAt(bytes: Uint8Array, bit: number, length: number): Uint8Array {
  const out = new Uint8Array(length);
  const shift = bit & 7;
  for (let i = 0, from = bit >> 3; i < length; i++, from++) {
    out[i] = shift === 0 ? bytes[from]! : (bytes[from]! << shift) | (bytes[from + 1]! >> (8 - shift));
  }
  return out;
}
