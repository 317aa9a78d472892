import type { IndexedAction } from '#drivers/store/read/actions.js';
import type { IndexedDnsRecord } from '#drivers/store/read/dns.js';
import type { EndedTrace, SettledRows } from '#drivers/store/read/final-events.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type {
  AddressFacts,
  IndexExtent,
  IndexedAccount,
  IndexedBlock,
  IndexedJettonMaster,
  IndexedJettonWallet,
  IndexedMessage,
  IndexedNftCollection,
  IndexedNftItem,
  IndexedSale,
  IndexedTrace,
  IndexedTransaction,
  Listed,
  Page,
  WantedFacts,
} from '#drivers/store/read/index-types.js';
import type { IndexedMultisig, IndexedMultisigOrder, IndexedVesting } from '#drivers/store/read/multisig-vesting.js';
import type { IndexedTokenEvent, ListedTokenKind } from '#drivers/store/read/token-events.js';
import type { Address } from '#formats/address/address.js';

/** What a {@link FakeIndex} holds; nothing by default. */
export interface FakeRows {
  readonly head?: IndexExtent;
  readonly bundles?: readonly number[];
  readonly blocks?: readonly IndexedBlock[];
  readonly transactions?: readonly IndexedTransaction[];
  readonly messages?: readonly IndexedMessage[];
  readonly traces?: readonly IndexedTrace[];
  readonly actions?: readonly IndexedAction[];
  readonly ofTraces?: ReadonlyMap<bigint, readonly IndexedTransaction[]>;
  readonly accounts?: readonly IndexedAccount[];
  readonly tokenEvents?: readonly IndexedTokenEvent[];
  readonly facts?: Partial<AddressFacts>;
  readonly balances?: readonly { address: Address; balance: bigint }[];
  readonly dnsRecords?: readonly IndexedDnsRecord[];
  readonly multisigs?: readonly IndexedMultisig[];
  readonly multisigOrders?: readonly IndexedMultisigOrder[];
  readonly vestingContracts?: readonly IndexedVesting[];
  readonly jettonMasters?: readonly IndexedJettonMaster[];
  readonly jettonWallets?: readonly IndexedJettonWallet[];
  readonly nftCollections?: readonly IndexedNftCollection[];
  readonly nftItems?: readonly IndexedNftItem[];
  readonly nftSales?: readonly IndexedSale[];
  /** The cursor of the next page. */
  readonly next?: string;
}

/** An index that gives what it was made with, whatever is asked, and remembers the questions. */
export class FakeIndex implements IndexPort {
  /** Name of the read, and its arguments but the last one. */
  readonly asked: [name: string, ...rest: unknown[]][] = [];
  readonly #rows: FakeRows;

  constructor(rows: FakeRows = {}) {
    this.#rows = rows;
  }

  async extent() {
    return this.#give(['head'], this.#rows.head ?? null);
  }
  async hasMcBlock(mc_seqno: number) {
    return this.#give(['hasRound', mc_seqno], this.#rows.bundles?.includes(mc_seqno) ?? false);
  }
  async blocks(filter: unknown, page: unknown) {
    return this.#give(['blocks', filter, page], this.#listed(this.#rows.blocks));
  }
  async shardState(mc_seqno: number) {
    return this.#give(['shardState', mc_seqno], this.#rows.blocks ?? []);
  }
  async transactions(filter: unknown, page: unknown) {
    return this.#give(['transactions', filter, page], this.#listed(this.#rows.transactions));
  }
  async transactionsBesideHeld(filter: unknown, page: unknown) {
    return this.transactions(filter, page);
  }
  async transactionsByMessage(filter: unknown, page: unknown) {
    return this.#give(['transactionsByMessage', filter, page], this.#listed(this.#rows.transactions));
  }
  async adjacentTransactions(hash: unknown, direction: unknown, { limit, offset, sort }: Omit<Page, 'cursor'>) {
    const { transactions } = this.#rows;
    const sorted = sort === 'asc' ? transactions : transactions?.toReversed();
    const rows = sorted?.slice(offset, offset + limit);
    const trace_roots = transactions?.map(({ trace_root }) => trace_root);
    return this.#give(['adjacentTransactions', hash, direction], rows && trace_roots ? { rows, trace_roots } : null);
  }
  async messages(filter: unknown, page: unknown) {
    return this.#give(['messages', filter, page], this.#listed(this.#rows.messages));
  }
  async messagesBesideHeld(): Promise<never> {
    throw new Error('the fake index has no messages for a caller that keeps texts');
  }
  async traces(filter: unknown, page: unknown) {
    return this.#give(['traces', filter, page], this.#listed(this.#rows.traces));
  }
  async transactionsOfTraces(roots: unknown, most: unknown) {
    return this.#give(['transactionsOfTraces', roots, most], this.#rows.ofTraces ?? new Map());
  }
  async transactionsOfTracesBesideHeld(roots: unknown, most: unknown) {
    return this.transactionsOfTraces(roots, most);
  }
  async actions(filter: unknown, page: unknown) {
    return this.#give(['actions', filter, page], this.#listed(this.#rows.actions));
  }
  async actionsOfTraces(roots: readonly bigint[], types: unknown) {
    const actions = this.#rows.actions ?? [];
    const byRoot = new Map(roots.map((root) => [root, actions.filter((action) => action.root === root)]));
    return this.#give(['actionsOfTraces', roots, types], byRoot);
  }
  async accounts(filter: unknown, parts: unknown) {
    return this.#give(['accounts', filter, parts], this.#rows.accounts ?? []);
  }
  async addressFacts(addresses: readonly Address[], wanted: WantedFacts): Promise<AddressFacts> {
    const { accounts = new Map(), domains = new Map(), tokens = new Map() } = this.#rows.facts ?? {};
    return this.#give(['addressFacts', addresses, wanted], {
      accounts,
      domains: wanted.domains ? domains : new Map(),
      tokens: wanted.tokens ? tokens : new Map(),
    });
  }
  async tokenEvents<Kind extends ListedTokenKind>(kind: Kind, filter: unknown, page: unknown) {
    const events = this.#rows.tokenEvents?.filter((event) => event.kind === kind) as IndexedTokenEvent<Kind>[];
    return this.#give(['tokenEvents', kind, filter, page], this.#listed(events));
  }
  async jettonMasters(filter: unknown, page: unknown) {
    return this.#give(['jettonMasters', filter, page], this.#listed(this.#rows.jettonMasters));
  }
  async jettonWallets(filter: unknown, page: unknown) {
    return this.#give(['jettonWallets', filter, page], this.#listed(this.#rows.jettonWallets));
  }
  async nftCollections(filter: unknown, page: unknown) {
    return this.#give(['nftCollections', filter, page], this.#listed(this.#rows.nftCollections));
  }
  async nftItems(filter: unknown, page: unknown) {
    return this.#give(['nftItems', filter, page], this.#listed(this.#rows.nftItems));
  }
  async nftSales(addresses: unknown) {
    return this.#give(['nftSales', addresses], this.#rows.nftSales ?? []);
  }
  async topAccounts(page: unknown) {
    return this.#give(['topAccounts', page], this.#listed(this.#rows.balances));
  }
  async dnsRecords(filter: unknown, page: unknown) {
    return this.#give(['dnsRecords', filter, page], this.#listed(this.#rows.dnsRecords));
  }
  async multisigs(filter: unknown, page: unknown) {
    return this.#give(['multisigs', filter, page], this.#listed(this.#rows.multisigs));
  }
  async multisigOrders(filter: unknown, page: unknown) {
    return this.#give(['multisigOrders', filter, page], this.#listed(this.#rows.multisigOrders));
  }
  async vestingContracts(filter: unknown, page: unknown) {
    return this.#give(['vestingContracts', filter, page], this.#listed(this.#rows.vestingContracts));
  }
  async ordersOfMultisigs(multisigs: unknown, most: number) {
    return this.#give(['ordersOfMultisigs', multisigs, most], (this.#rows.multisigOrders ?? []).slice(0, most));
  }

  async endedTraces(range: unknown, members: unknown, accounts: unknown): Promise<readonly EndedTrace[]> {
    return this.#give(['endedTraces', range, members, accounts], []);
  }
  async endedTracesBy(range: unknown, names: unknown) {
    return this.#give(['endedTracesBy', range, names], []);
  }
  async finalTransactions(range: unknown, filter: unknown) {
    return this.#give(['finalTransactions', range, filter], this.#rows.transactions ?? []);
  }
  async touchedAccounts(range: unknown) {
    return this.#give(
      ['touchedAccounts', range],
      (this.#rows.accounts ?? []).map(({ address }) => address),
    );
  }
  async changedJettonWallets(range: unknown, filter: unknown) {
    const wallets = (this.#rows.jettonWallets ?? []).map((wallet) => ({ wallet, mc_seqno: 0 }));
    return this.#give(['changedJettonWallets', range, filter], wallets);
  }
  async settledRows(range: unknown, asked: unknown): Promise<SettledRows> {
    return this.#give(['settledRows', range, asked], { unclassified: null, uncertain: null, undetected: 0 });
  }

  #listed<Row>(rows: readonly Row[] = []): Listed<Row> {
    return { rows, next: this.#rows.next ?? null };
  }

  #give<T>(question: [string, ...unknown[]], answer: T): T {
    this.asked.push(question);
    return answer;
  }
}
