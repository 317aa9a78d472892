import type { AccountRow } from '#drivers/store/tables.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { BuiltCell } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { toHex } from '#kernel/bytes.js';
import type { AccountStateChange, BundleRows, BundleTransaction } from '#services/indexer/rows/bundle-rows.js';

/** The parts of an account that the index has from before a batch. */
export interface PreviousAccountParts {
  readonly data_boc: Uint8Array | null;
  readonly extra_currencies: ReadonlyMap<number, bigint> | null;
}

/** The newest state of an account in a batch, as staged for the merge. */
export interface LatestAccount extends AccountRow {
  /** Whether it has extra currencies that are not known: the account must be requested from a liteserver. */
  readonly incomplete: boolean;
}

interface ChangedAccount {
  newest: AccountStateChange;
  /** All states in the batch: they may contain cells that later states prune. */
  readonly changes: AccountStateChange[];
  /** The data of the newest state, once completed. */
  data: Cell | null;
}

/**
 * Reduces the account changes of a batch, added in ascending order of masterchain blocks, to the newest state of each account.
 * Parts that a block prunes because they are unchanged are taken from other states of the batch, from the messages that the
 * account received in it, and from the index.
 */
export class BatchAccounts {
  readonly #accounts = new Map<string, ChangedAccount>();
  /** By account key: transactions with an inbound message. */
  readonly #received = new Map<bigint, BundleTransaction[]>();

  add({ accounts, transactions }: Pick<BundleRows, 'accounts' | 'transactions'>): void {
    for (const change of accounts) {
      const key = toHex(change.address);
      const folding = this.#accounts.get(key);
      if (folding === undefined) this.#accounts.set(key, { newest: change, changes: [change], data: null });
      else {
        folding.changes.push(change);
        folding.newest = change;
      }
    }
    for (const transaction of transactions) {
      if (transaction.in_msg_line < 0) continue;
      const list = this.#received.get(transaction.account_key);
      if (list === undefined) this.#received.set(transaction.account_key, [transaction]);
      else list.push(transaction);
    }
  }

  /** Addresses of the accounts that the batch alone cannot complete: the parts stored in the index are needed. */
  incompleteAddresses(): Uint8Array[] {
    const addresses: Uint8Array[] = [];
    for (const folding of this.#accounts.values()) {
      const { newest, changes } = folding;
      const partial = newest.data.kind !== 'whole' && changes.some(({ data }) => data.kind === 'partial');
      const data = partial && newest.data.kind !== 'none' && this.#data(folding, null) === null;
      if (data || (newest.pruned_extra !== null && this.#extra(folding, null) === null)) addresses.push(newest.address);
    }
    return addresses;
  }

  /**
   * The newest states, by address. Data that is unchanged since before the batch, or that cannot be completed, is null.
   *
   * @param known stored parts of the {@link incompleteAddresses}, by address in hex
   */
  finish(known: ReadonlyMap<string, PreviousAccountParts>): LatestAccount[] {
    const rows: LatestAccount[] = [];
    for (const [key, folding] of [...this.#accounts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const before = known.get(key) ?? null;
      const data = this.#data(folding, before);
      const { newest, changes } = folding;
      const extra = newest.pruned_extra === null ? newest.extra_currencies : this.#extra(folding, before);
      rows.push({
        address: newest.address,
        state_hash: newest.state_hash,
        status: newest.status,
        balance: newest.balance,
        extra_currencies: extra,
        last_trans_lt: newest.last_trans_lt,
        last_trans_hash: newest.last_trans_hash,
        mc_seqno: newest.mc_seqno,
        gen_utime: newest.gen_utime,
        code_hash: newest.code_hash,
        data_hash: newest.data_hash,
        frozen_hash: newest.frozen_hash,
        data_boc: data === null ? null : serializeBoc(data),
        incomplete: newest.pruned_extra !== null && extra === null,
        first_tx: changes.find(({ first_tx }) => first_tx !== null)?.first_tx ?? null,
      });
    }
    return rows;
  }

  #data(folding: ChangedAccount, before: PreviousAccountParts | null): Cell | null {
    const { data, data_hash } = folding.newest;
    if (data.kind === 'whole') return data.cell;
    if (data.kind === 'none') return null;
    if (folding.data !== null) return folding.data;
    const sources = this.#sources(folding, before);
    const cell = data.kind === 'partial' ? data.cell : sources.find(data_hash!);
    folding.data = cell === null ? null : completeCell(cell, sources);
    return folding.data;
  }

  #sources({ newest, changes }: ChangedAccount, before: PreviousAccountParts | null): CellSources {
    const sources = new CellSources();
    for (let i = changes.length - 1; i >= 0; i--) {
      const { data } = changes[i]!;
      if (data.kind === 'whole' || data.kind === 'partial') sources.add(() => data.cell);
    }
    if (before !== null) sources.add(() => (before.data_boc === null ? null : parseBocRoot(before.data_boc)));
    for (const { table, in_msg_line } of this.#received.get(newest.account_key) ?? []) {
      sources.add(() => table.cell(in_msg_line));
    }
    return sources;
  }

  /** The extra currencies of the newest state, whose dictionary is partly pruned. */
  #extra({ newest, changes }: ChangedAccount, before: PreviousAccountParts | null): ReadonlyMap<number, bigint> | null {
    const sources = new CellSources();
    for (const { extra_currencies, pruned_extra } of changes) {
      if (pruned_extra !== null) sources.add(() => pruned_extra);
      else if (extra_currencies !== null) sources.add(() => dictionaryOf(extra_currencies));
    }
    const { extra_currencies } = before ?? { extra_currencies: null };
    if (extra_currencies !== null) sources.add(() => dictionaryOf(extra_currencies));
    const whole = completeCell(newest.pruned_extra!, sources);
    return whole === null ? null : new Map(currenciesIn(whole));
  }
}

function dictionaryOf(currencies: ReadonlyMap<number, bigint>): Cell | null {
  return ExtraCurrencyCollection.of(currencies).root;
}

function currenciesIn(root: Cell): Iterable<readonly [number, bigint]> {
  return new Dictionary(ExtraCurrencyCollection.of([]).type, root);
}

/**
 * Cells by hash, from trees that may be partly pruned; a tree is only walked when a cell is not found in the trees before it.
 */
export class CellSources {
  readonly #cells = new Map<string, Cell>();
  readonly #walked = new Set<string>();
  readonly #waiting: (() => Cell | null)[] = [];

  /** @param tree called on demand; null: no tree */
  add(tree: () => Cell | null): void {
    this.#waiting.push(tree);
  }

  /** An unpruned cell with this `hash(0)`; cells below it may be pruned. */
  find(hash: Uint8Array): Cell | null {
    const key = toHex(hash);
    for (;;) {
      const found = this.#cells.get(key);
      if (found !== undefined) return found;
      const next = this.#waiting.shift();
      if (next === undefined) return null;
      const tree = next();
      if (tree !== null) this.#walk(tree);
    }
  }

  #walk(cell: Cell): void {
    if (cell.type === CellType.prunedBranch) return;
    // By the hash that depends on what is pruned below: another tree may show other parts of the same cell.
    const shown = toHex(cell.hash());
    if (this.#walked.has(shown)) return;
    this.#walked.add(shown);
    const key = cell.levelMask === 0 ? shown : toHex(cell.hash(0));
    if (cell.levelMask === 0 || !this.#cells.has(key)) this.#cells.set(key, cell);
    for (let i = 0; i < cell.refCount; i++) this.#walk(cell.ref(i));
  }
}

/**
 * Replaces the pruned branches of a cell by the cells from the sources; null when one is in none of them. The result has the
 * level-0 hash of the given cell, by which the parts are found.
 */
export function completeCell(cell: Cell, sources: CellSources): Cell | null {
  return new Completion(sources).complete(cell, 0);
}

class Completion {
  readonly #sources: CellSources;
  readonly #done = new Map<string, Cell | null>();

  constructor(sources: CellSources) {
    this.#sources = sources;
  }

  /** @param merkleDepth number of Merkle cells above: branches pruned at a level up to it belong to them */
  complete(cell: Cell, merkleDepth: number): Cell | null {
    if (cell.level <= merkleDepth) return cell;
    const key = `${merkleDepth} ${toHex(cell.hash(merkleDepth))}`;
    const known = this.#done.get(key);
    if (known !== undefined) return known;
    const whole = this.#renew(cell, merkleDepth);
    this.#done.set(key, whole);
    return whole;
  }

  #renew(cell: Cell, merkleDepth: number): Cell | null {
    if (cell.type === CellType.prunedBranch) {
      const found = this.#sources.find(cell.hash(merkleDepth));
      return found === null ? null : this.complete(found, merkleDepth);
    }
    const deeper = cell.type === CellType.merkleProof || cell.type === CellType.merkleUpdate ? 1 : 0;
    const refs: Cell[] = [];
    for (let i = 0; i < cell.refCount; i++) {
      const ref = this.complete(cell.ref(i), merkleDepth + deeper);
      if (ref === null) return null;
      refs.push(ref);
    }
    const start = cell.dataOffset;
    const bytes = cell.bytes.subarray(start, start + ((cell.bits + 7) >> 3));
    return new BuiltCell(bytes, cell.bits, refs, cell.type !== CellType.ordinary);
  }
}
