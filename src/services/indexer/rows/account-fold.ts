import type { AccountRow } from '#drivers/store/rows.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { CellSources, completeCell } from '#services/indexer/rows/complete-cell.js';
import type { AccountChange, RoundRows, RoundTransaction } from '#services/indexer/rows/round-rows.js';

/** What an index knows of an account from before a batch. */
export interface KnownAccount {
  readonly data_boc: Uint8Array | null;
  readonly extra_currencies: ReadonlyMap<number, bigint> | null;
}

/** An account's newest state in a batch, as it is staged. */
export interface FoldedAccount extends AccountRow {
  /** Whether it has other currencies that are not known: the node must be asked for the account. */
  readonly incomplete: boolean;
}

interface Folding {
  newest: AccountChange;
  /** All states in the batch, and the transactions, that may hold cells which later states leave out. */
  readonly changes: AccountChange[];
  /** The data of the newest, once it was completed. */
  data: Cell | null;
}

/**
 * Gathers the changes of accounts in a batch of rounds, given in the order of the rounds, to the newest state of each. What a
 * block leaves out of a state, because it was in the one before, is looked for in the states of the batch, in the messages
 * that the account received in it, and in what the index knew.
 */
export class AccountFold {
  readonly #accounts = new Map<string, Folding>();
  /** By account key: transactions that received a message. */
  readonly #received = new Map<bigint, RoundTransaction[]>();

  add({ accounts, transactions }: Pick<RoundRows, 'accounts' | 'transactions'>): void {
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

  /** The accounts of which the batch itself does not tell all: what the index knows of them makes them whole. */
  wanting(): Uint8Array[] {
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
   * The newest states, by address. Data that is as it was before the batch, and data that cannot be completed, is null.
   *
   * @param known of the accounts that are {@link wanting}, by address in hex
   */
  finish(known: ReadonlyMap<string, KnownAccount>): FoldedAccount[] {
    const rows: FoldedAccount[] = [];
    for (const [key, folding] of [...this.#accounts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const before = known.get(key) ?? null;
      const data = this.#data(folding, before);
      const { newest } = folding;
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
      });
    }
    return rows;
  }

  #data(folding: Folding, before: KnownAccount | null): Cell | null {
    const { data, data_hash } = folding.newest;
    if (data.kind === 'whole') return data.cell;
    if (data.kind === 'none') return null;
    if (folding.data !== null) return folding.data;
    const sources = this.#sources(folding, before);
    const cell = data.kind === 'partial' ? data.cell : sources.find(data_hash!);
    folding.data = cell === null ? null : completeCell(cell, sources);
    return folding.data;
  }

  #sources({ newest, changes }: Folding, before: KnownAccount | null): CellSources {
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

  /** The other currencies of the newest state, in whose dictionary some are pruned. */
  #extra({ newest, changes }: Folding, before: KnownAccount | null): ReadonlyMap<number, bigint> | null {
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
