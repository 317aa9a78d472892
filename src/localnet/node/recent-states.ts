import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries } from '#formats/cells/dict-read.js';
import { Account, AccountStorage, DepthBalanceInfo, NO_ACCOUNT } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { ChainState, ChainTip } from '#localnet/ledger/block-bundle.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { StateOverride } from '#localnet/producer/block-request.js';

/** Number of states that are remembered; the oldest ones are forgotten. */
const MOST = 64;

/** A state that a chain can be taken back to. */
export interface FormerState {
  readonly tip: ChainTip;
  /** Raw addresses of the accounts that had been deleted; null unless the chain is a fork. */
  readonly deleted: ReadonlySet<string> | null;
}

/** Recent states of a chain that it can be taken back to, in memory: they share their cells with the newest states. */
export class RecentStates {
  readonly #states = new Map<string, FormerState>();
  #count = 0;

  /** @returns the id of the state */
  add(state: FormerState): string {
    const id = String(++this.#count);
    this.#states.set(id, state);
    for (const oldest of this.#states.keys()) {
      if (this.#states.size <= MOST) break;
      this.#states.delete(oldest);
    }
    return id;
  }

  /** @throws localnet/no-recent-state */
  get(id: string): FormerState {
    const found = this.#states.get(id);
    if (found !== undefined) return found;
    throw localnetErrors['no-recent-state']({ id, kept: MOST });
  }
}

/**
 * The overrides that give all accounts their state of an earlier time. Logical times, and the time until which storage is
 * paid, do not count: they change in each block for accounts with ticks. Takes time in proportion to the number of accounts.
 */
export function overridesBackTo(former: ChainTip, now: ChainTip): StateOverride[] {
  const overrides: StateOverride[] = [];
  const workchains = new Set([former, now].flatMap(({ shards }) => shards.map(({ id }) => id.workchain)));
  compare(-1, [former.masterchain], [now.masterchain]);
  for (const workchain of workchains) compare(workchain, shardsOf(former, workchain), shardsOf(now, workchain));
  return overrides;

  function compare(workchain: number, before: readonly ChainState[], after: readonly ChainState[]): void {
    const was = accountsOf(before);
    const is = accountsOf(after);
    if (sameRoots(was, is)) return;
    const current = new Map(entriesOf(is));
    for (const [key, [id, shardAccount]] of entriesOf(was)) {
      const there = current.get(key);
      current.delete(key);
      const account = shardAccount.ref(0);
      if (there !== undefined && isSame(account, there[1].ref(0))) continue;
      overrides.push({ kind: 'restore', address: Address.ofParts(workchain, id), account });
    }
    for (const [id] of current.values()) {
      overrides.push({ kind: 'restore', address: Address.ofParts(workchain, id), account: NO_ACCOUNT });
    }
  }
}

const KEY_BITS = 256;

function shardsOf({ shards }: ChainTip, workchain: number): readonly ChainState[] {
  return shards.filter(({ id }) => id.workchain === workchain);
}

/** Roots of the account dictionaries. */
function accountsOf(states: readonly ChainState[]): (Cell | null)[] {
  return states.map(({ state }) => decodeCell(ShardStateUnsplit, state).accounts.value.root);
}

function sameRoots(a: readonly (Cell | null)[], b: readonly (Cell | null)[]): boolean {
  return a.length === b.length && a.every((root, i) => sameCell(root, b[i]!));
}

function sameCell(a: Cell | null, b: Cell | null): boolean {
  return a === null || b === null ? a === b : bytesEqual(a.hash(), b.hash());
}

/** Account ids and the cells with their `ShardAccount` (behind the extra), by id in hex. */
function* entriesOf(
  roots: readonly (Cell | null)[],
): Generator<readonly [key: string, readonly [id: Uint8Array, shardAccount: Cell]]> {
  for (const root of roots) {
    for (const [id, value] of iterateEntries(root, KEY_BITS)) {
      DepthBalanceInfo.load(value);
      yield [toHex(id), [id, new Builder().storeSlice(value).endCell()]];
    }
  }
}

/** Whether two `Account` cells have the same state, balance and debt. */
function isSame(a: Cell, b: Cell): boolean {
  return bytesEqual(a.hash(), b.hash()) || bytesEqual(meaningOf(a), meaningOf(b));
}

function meaningOf(cell: Cell): Uint8Array {
  const account = decodeCell(Account, cell);
  if (account.kind === 'account_none') return cell.hash();
  const { storage, storage_stat } = account;
  return new Builder()
    .storeRef(encodeCell(AccountStorage, { ...storage, last_trans_lt: 0n }))
    .storeUint(storage_stat.due_payment ?? 0n, 128)
    .endCell()
    .hash();
}
