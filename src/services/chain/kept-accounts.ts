import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';
import type { Account } from '#formats/tlb/account.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import { type MetricRow, rowsNamed } from '#kernel/metric-rows.js';
import type { ChangedAccounts } from '#services/chain/changed-accounts.js';
import type { ProvenBlock } from '#services/chain/proven-blocks.js';

/** What was proven about an account, with the shard block after which it is so. */
export interface ProvenAccountValue {
  /** The newest block of the account's shard; `null` when the workchain does not exist. */
  readonly shard_block: BlockId | null;
  /** Unix time of the shard block: the time that the contract sees. */
  readonly shard_utime: number | null;
  /** Logical time of the state after the shard block. */
  readonly shard_lt: bigint | null;
  /** The `Account` cell; `null` when the account does not exist. A pruned read has only the visible part. */
  readonly cell: Cell | null;
  readonly account: Account | null;
  /** The last transaction according to `ShardAccount` (`last_trans_lt` in the account storage is the END lt of that transaction). */
  readonly last_transaction: TransactionRef | null;
}

/** Counts since the creation of the chain reads. */
export interface KeptAccountMetrics {
  /** Reads that a kept state answered. */
  readonly hits: number;
  /** Reads of a state that was not kept, or that an account may have changed since. */
  readonly misses: number;
  readonly evictions: number;
  readonly bytes: number;
  readonly entries: number;
}

const row = rowsNamed<KeptAccountMetrics>('tern_kept_accounts_');

export const keptAccountMetricRows: readonly MetricRow<KeptAccountMetrics>[] = [
  row('counter', 'hits_total', 'Reads answered by a proven state whose account has not changed', (m) => m.hits),
  row('counter', 'misses_total', 'Reads of an account state that was not kept, or has changed', (m) => m.misses),
  row('counter', 'evictions_total', 'Kept account states evicted', (m) => m.evictions),
  row('gauge', 'bytes', 'Size of the kept account states', (m) => m.bytes),
  row('gauge', 'entries', 'Number of kept account states', (m) => m.entries),
];

interface KeptAccount {
  readonly value: ProvenAccountValue;
  /** The newest masterchain block after which it is known to be so. */
  seqno: number;
}

/** Cells and decoded values of a state, relative to the answer that it came with. */
const KEPT_FACTOR = 4;

/**
 * Proven states of accounts that exist, which hold after later masterchain blocks as long as no block in between has a
 * transaction of the account. One that does not exist may be imported into a fork, which is no transaction.
 */
export class KeptAccounts {
  readonly #kept: LruByBytes<KeptAccount>;
  readonly #changes: ChangedAccounts;
  #hits = 0;
  #misses = 0;

  constructor(maxBytes: number, changes: ChangedAccounts) {
    this.#kept = new LruByBytes(maxBytes);
    this.#changes = changes;
  }

  get metrics(): KeptAccountMetrics {
    const { evicted, bytes, size } = this.#kept;
    return { hits: this.#hits, misses: this.#misses, evictions: evicted, bytes, entries: size };
  }

  /** The state after a masterchain block; undefined when it has to be read. @param pruned a pruned one will do */
  async find(address: Address, block: ProvenBlock, pruned: boolean): Promise<ProvenAccountValue | undefined> {
    const found = await this.#find(address, block, pruned);
    if (found === undefined) this.#misses++;
    else this.#hits++;
    return found;
  }

  async #find(address: Address, block: ProvenBlock, pruned: boolean): Promise<ProvenAccountValue | undefined> {
    const key = address.toRaw();
    const kept = this.#kept.get(key) ?? (pruned ? this.#kept.get(prunedKey(key)) : undefined);
    if (kept === undefined) return undefined;
    if (kept.seqno < block.id.seqno) await this.#changes.follow(block);
    const top = this.#changes.topAt(block, address);
    if (top === null || kept.seqno > block.id.seqno || !this.#changes.isUnchanged(key, kept.seqno)) return undefined;
    kept.seqno = block.id.seqno;
    const { gen_utime, end_lt } = top.entry.descr;
    return { ...kept.value, shard_block: top.block, shard_utime: gen_utime, shard_lt: end_lt };
  }

  /** @param answerBytes length of the answer that proved it */
  keep(
    address: Address,
    { id }: ProvenBlock,
    value: ProvenAccountValue,
    { pruned, answerBytes }: { readonly pruned: boolean; readonly answerBytes: number },
  ): void {
    if (value.account?.kind !== 'account') return;
    const raw = address.toRaw();
    const key = pruned ? prunedKey(raw) : raw;
    const { seqno } = id;
    if ((this.#kept.get(key)?.seqno ?? 0) > seqno) return;
    this.#kept.set(key, { value, seqno }, answerBytes * KEPT_FACTOR);
  }
}

function prunedKey(raw: string): string {
  return `${raw} pruned`;
}
