import type { ContractFacts, TraceFacts } from '#domain/actions/trace-facts.js';
import type { TracedTransaction } from '#domain/actions/trace-input.js';
import type { PastContract, PastFacts } from '#drivers/store/write/past-contracts.js';
import type { AccountFacts } from '#drivers/store/write/trace-facts.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** An account of the trace. */
interface TracedAccount {
  /** Masterchain blocks of its first transaction in the trace, and of the end of the trace. */
  readonly first_seqno: number;
  readonly wasActive: boolean;
  readonly endsActive: boolean;
}

/**
 * What the index knows of contracts, for one trace. Its tables hold the newest states; where another one holds at the end of the
 * trace, and classification depends on that, it is noted in {@link FactsAtTrace.outdated}.
 */
export class FactsAtTrace implements TraceFacts {
  readonly #contracts: ReadonlyMap<string, AccountFacts>;
  readonly #data: ReadonlyMap<string, Cell | null>;
  readonly #accounts = new Map<string, TracedAccount>();
  readonly #end_lt: bigint;
  readonly #end_seqno: number;
  readonly #past = new Map<string, PastFacts>();
  /** Contracts that are not detected yet and that the classification asked for, by raw address. */
  readonly undetected = new Map<string, Address>();
  hasPostponed = false;
  /** Contracts of which another state is needed than the newest one, by raw address. */
  readonly outdated = new Map<string, PastContract>();

  constructor(
    transactions: readonly TracedTransaction[],
    known: {
      readonly contracts: ReadonlyMap<string, AccountFacts>;
      readonly data: ReadonlyMap<string, Cell | null>;
    },
  ) {
    this.#contracts = known.contracts;
    this.#data = known.data;
    let end_lt = 0n;
    let end_seqno = 0;
    const ordered = [...transactions].sort((a, b) => (a.lt < b.lt ? -1 : 1));
    for (const { account, lt, mc_seqno, orig_status, end_status } of ordered) {
      if (lt > end_lt) end_lt = lt;
      if (mc_seqno > end_seqno) end_seqno = mc_seqno;
      const raw = account.toRaw();
      const before = this.#accounts.get(raw);
      this.#accounts.set(raw, {
        first_seqno: before?.first_seqno ?? mc_seqno,
        wasActive: (before?.wasActive ?? false) || orig_status === 'active' || end_status === 'active',
        endsActive: end_status === 'active',
      });
    }
    this.#end_lt = end_lt;
    this.#end_seqno = end_seqno;
  }

  contract(address: Address): ContractFacts | null | undefined {
    const raw = address.toRaw();
    const known = this.#contracts.get(raw);
    if (known === undefined) return undefined;
    const past = this.#past.get(raw);
    if (past !== undefined) return past.outcome === 'read' ? past.contract : known.contract;
    if (known.isUndetected) this.undetected.set(raw, address);
    if (known.isPostponed) this.hasPostponed = true;
    const { contract } = known;
    if (contract === null) {
      if (known.isGone) this.#noteGone(address, raw);
      return contract;
    }
    const isNewer = known.detected_lt !== null && known.detected_lt > this.#end_lt;
    return isNewer ? this.#watched(contract, address, raw) : contract;
  }

  data(address: Address): Cell | null | undefined {
    return this.#data.get(address.toRaw());
  }

  /** Takes what was read of a contract. */
  add(address: Address, past: PastFacts): void {
    this.#past.set(address.toRaw(), past);
  }

  /** It was destroyed before detection saw it; by the trace itself: the state before the trace counts. */
  #noteGone(address: Address, raw: string): void {
    const account = this.#accounts.get(raw);
    if (account?.wasActive !== true) return;
    const mc_seqno = account.endsActive ? this.#end_seqno : account.first_seqno - 1;
    if (mc_seqno > 0) this.outdated.set(raw, { address, mc_seqno });
  }

  /** The facts of a contract that has changed since: of sales and auctions prices and owners do, other facts do not. */
  #watched(contract: ContractFacts, address: Address, raw: string): ContractFacts {
    const { nft_sale: sale, nft_auction: auction } = contract;
    if (!sale && !auction) return contract;
    const past = { address, mc_seqno: this.#end_seqno };
    const note = <Value>(value: Value): Value => {
      this.outdated.set(raw, past);
      return value;
    };
    return {
      ...contract,
      nft_sale: sale && {
        ...{ nft: sale.nft, marketplace: sale.marketplace },
        get nft_owner() {
          return note(sale.nft_owner);
        },
        get full_price() {
          return note(sale.full_price);
        },
      },
      nft_auction: auction && {
        ...{ nft: auction.nft, marketplace: auction.marketplace },
        get nft_owner() {
          return note(auction.nft_owner);
        },
        get last_bid() {
          return note(auction.last_bid);
        },
      },
    } as ContractFacts;
  }
}
