import type { Action } from '#domain/actions/action-registry.js';
import { classification } from '#domain/actions/classify.js';
import { contractFacts } from '#domain/actions/contract-facts.js';
import type { ContractFacts, TraceFacts } from '#domain/actions/trace-facts.js';
import { type TraceInput, traceTransaction } from '#domain/actions/trace-input.js';
import { codeMethods } from '#domain/contracts/code-methods.js';
import type { ContractInterface } from '#domain/contracts/contract-interface.js';
import { type ContractView, isContractError } from '#domain/contracts/contract-view.js';
import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import { CandidateInterfaces, contractInterfaces } from '#domain/contracts/interface-registry.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type Account, ShardAccount } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { WorkSlices } from '#kernel/work-slices.js';
import type { AccountStateRead } from '#services/chain/accounts.js';
import type { ReadAt, ReadOptions } from '#services/chain/read-context.js';

/** A transaction of a trace that is to be understood. */
interface UnderstoodTransaction {
  /** `Transaction` */
  readonly cell: Cell;
  readonly account: Address;
  /** Masterchain block that commits it, or is expected to. */
  readonly mc_seqno: number;
  /** `ShardAccount` before and after it; null where it is not known. */
  readonly before: Cell | null;
  readonly after: Cell | null;
}

/** An interface that a contract of the trace was found to have, with the values of its row. */
export interface FoundContract {
  readonly address: Address;
  /** Name of the interface: `jetton_master`, … */
  readonly kind: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** No contract had the interface there before the trace. */
  readonly isNew: boolean;
}

/** What happens in a trace. */
interface TraceMeaning {
  readonly state: 'ok' | 'broken' | 'failed';
  /** By end_lt and start_lt, newest first; `transactions` of an action are positions in the given list. */
  readonly actions: readonly Action[];
  /** The interfaces of the accounts of the trace, in the states that it leaves behind. */
  readonly contracts: readonly FoundContract[];
}

/** Understands traces whose contracts may exist only in an emulation. */
export interface TraceMeanings {
  /**
   * Classifies a trace into actions. What contracts are is detected in the states of the trace, and of contracts that it does not
   * touch in their verified states.
   *
   * @param mc_seqno masterchain block whose states hold for contracts without states in the trace; absent: the newest one
   * @throws chain/*, lite/*
   */
  meaningOf(
    trace: { readonly transactions: readonly UnderstoodTransaction[]; readonly mc_seqno?: number | undefined },
    options: ReadOptions,
  ): Promise<TraceMeaning>;
}

/** Contracts after a block, some of them in other states. */
export interface StatedContracts extends ContractView {
  /** The masterchain library with a hash; null when it is not published. */
  library(hash: Uint8Array): Promise<Cell | null>;
}

export interface ContractTraceMeaningsModules {
  readonly clock: Clock;
  readonly account: (address: Address, options: ReadAt) => Promise<AccountStateRead>;
  readonly contractsWith: (states: ReadonlyMap<string, Account>, options: ReadAt) => StatedContracts;
}

export interface ContractTraceMeaningsOptions {
  /** DNS collections (see `DNS_ROOTS`). */
  readonly dnsRoots: readonly DnsRoot[];
}

/** A classification asks for more facts at most so often. */
const MOST_ROUNDS = 4;
/** Contracts outside of a trace that its classification may ask for. */
const MOST_ASKED = 256;
/** Contracts that are read or run at a time. */
const LANES = 16;

/** {@link TraceMeanings} by contract detection in the states of the trace and in verified ones. */
export class ContractTraceMeanings implements TraceMeanings {
  readonly #candidates: CandidateInterfaces;
  readonly #modules: ContractTraceMeaningsModules;

  constructor({ dnsRoots }: ContractTraceMeaningsOptions, modules: ContractTraceMeaningsModules) {
    this.#candidates = new CandidateInterfaces(contractInterfaces(dnsRoots));
    this.#modules = modules;
  }

  async meaningOf(
    { transactions, mc_seqno }: Parameters<TraceMeanings['meaningOf']>[0],
    options: ReadOptions,
  ): Promise<TraceMeaning> {
    const at: ReadAt = mc_seqno === undefined ? options : { ...options, at: mc_seqno };
    const slices = new WorkSlices(this.#modules.clock, options.signal ?? null);
    const input = await traceInput(transactions, slices);
    const states = await traceStates(transactions, input, slices);
    const contracts = new TraceContracts(states, { at, slices, candidates: this.#candidates }, this.#modules);
    await contracts.learn(transactions.map(({ account }) => account));
    let result = await slices.run(classification(input, contracts));
    for (let round = 1; round < MOST_ROUNDS && result.wanted.length > 0; round++) {
      await contracts.learn(result.wanted.map(({ address }) => address));
      result = await slices.run(classification(input, contracts));
    }
    return { state: result.state, actions: newestFirst(result.actions), contracts: contracts.found() };
  }
}

async function traceInput(transactions: readonly UnderstoodTransaction[], slices: WorkSlices): Promise<TraceInput> {
  const traced = await slices.map(transactions, ({ cell, account, mc_seqno }) =>
    traceTransaction(decodeCell(Transaction, cell), { hash: cell.hash(), account, mc_seqno }),
  );
  return { trace_id: traced[0]?.hash ?? new Uint8Array(32), transactions: traced };
}

function newestFirst(actions: readonly Action[]): Action[] {
  const later = (a: bigint, b: bigint) => (a === b ? 0 : a > b ? -1 : 1);
  return actions.toSorted((a, b) => later(a.end_lt, b.end_lt) || later(a.start_lt, b.start_lt));
}

/** States of accounts by raw address, as far as a trace shows them. */
interface TraceStates {
  readonly before: ReadonlyMap<string, Account>;
  readonly after: ReadonlyMap<string, Account>;
}

/** The states before the first and after the last transaction of each account. */
async function traceStates(
  transactions: readonly UnderstoodTransaction[],
  { transactions: traced }: TraceInput,
  slices: WorkSlices,
): Promise<TraceStates> {
  const first = new Map<string, { readonly lt: bigint; readonly state: Cell }>();
  const last = new Map<string, { readonly lt: bigint; readonly state: Cell }>();
  for (const [position, { account, before, after }] of transactions.entries()) {
    const key = account.toRaw();
    const { lt } = traced[position]!;
    if (before !== null && lt < (first.get(key)?.lt ?? MOST_LT)) first.set(key, { lt, state: before });
    if (after !== null && lt >= (last.get(key)?.lt ?? 0n)) last.set(key, { lt, state: after });
  }
  const decoded = async (states: typeof first): Promise<ReadonlyMap<string, Account>> =>
    new Map(await slices.map([...states], ([key, { state }]) => [key, accountOf(state)] as const));
  return { before: await decoded(first), after: await decoded(last) };
}

interface TraceContractsOptions {
  readonly at: ReadAt;
  readonly slices: WorkSlices;
  readonly candidates: CandidateInterfaces;
}

/** What the contracts of one trace are. */
class TraceContracts implements TraceFacts {
  readonly #at: ReadAt;
  readonly #slices: WorkSlices;
  readonly #candidates: CandidateInterfaces;
  readonly #modules: ContractTraceMeaningsModules;
  readonly #before: ReadonlyMap<string, Account>;
  readonly #after: ReadonlyMap<string, Account>;
  readonly #viewBefore: StatedContracts;
  readonly #viewAfter: StatedContracts;
  readonly #known = new Map<string, ContractFacts | null>();
  readonly #data = new Map<string, Cell | null>();
  readonly #found: FoundContract[] = [];
  #asked = 0;

  constructor(
    { before, after }: TraceStates,
    { at, slices, candidates }: TraceContractsOptions,
    modules: ContractTraceMeaningsModules,
  ) {
    this.#at = at;
    this.#slices = slices;
    this.#candidates = candidates;
    this.#modules = modules;
    this.#before = before;
    this.#after = after;
    this.#viewBefore = modules.contractsWith(this.#before, at);
    this.#viewAfter = modules.contractsWith(this.#after, at);
  }

  contract(address: Address): ContractFacts | null | undefined {
    return this.#known.get(address.toRaw());
  }

  data(address: Address): Cell | null | undefined {
    return this.#data.get(address.toRaw());
  }

  /** The interfaces of the accounts of the trace. */
  found(): readonly FoundContract[] {
    return this.#found;
  }

  /** @throws chain/*, lite/* */
  async learn(addresses: readonly Address[]): Promise<void> {
    const missing = new Map<string, Address>();
    for (const address of addresses) if (!this.#known.has(address.toRaw())) missing.set(address.toRaw(), address);
    await this.#slices.mapWaiting([...missing], LANES, ([key, address]) => this.#learn(key, address));
  }

  async #learn(key: string, address: Address): Promise<void> {
    const isOfTrace = this.#after.has(key);
    if (!isOfTrace && ++this.#asked > MOST_ASKED) {
      this.#known.set(key, null);
      this.#data.set(key, null);
      return;
    }
    const after = this.#after.get(key) ?? (await this.#modules.account(address, this.#at)).account;
    const before = this.#before.get(key) ?? after;
    const rows = await this.#detect(address, codeOf(after), this.#viewAfter);
    // What a contract was before the trace closed it still says what happened.
    const isChanged = isOfTrace && (rows.length === 0 || !sameCode(before, after));
    const earlier = isChanged ? await this.#detect(address, codeOf(before), this.#viewBefore) : [];
    if (isOfTrace) {
      for (const { kind, values } of rows) {
        const isNew = isChanged && earlier.every((row) => row.kind !== kind);
        this.#found.push({ address, kind, values, isNew });
      }
    }
    const facts = new Map([...earlier, ...rows].map(({ kind, values }) => [kind, values]));
    this.#known.set(
      key,
      facts.size === 0
        ? null
        : contractFacts((codeOf(after) ?? codeOf(before))?.hash() ?? null, (kind) => facts.get(kind)),
    );
    this.#data.set(key, dataOf(after));
  }

  /** @throws chain/*, lite/* */
  async #detect(address: Address, code: Cell | null, view: StatedContracts): Promise<readonly DetectedInterface[]> {
    if (code === null) return [];
    const library = libraryHashOf(code);
    const whole = library === null ? code : await view.library(library);
    if (whole === null) return [];
    const rows: DetectedInterface[] = [];
    for (const kind of this.#candidates.of(toHex(code.hash()), codeMethods(whole))) {
      const values = await readInterface(kind, address, view);
      if (values !== null) rows.push({ kind: kind.name, values });
    }
    return rows;
  }
}

const MOST_LT = 1n << 64n;

interface DetectedInterface {
  readonly kind: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Errors of the chain: they say nothing about the contract. */
const PASSING = /^(chain|lite)\//;

/** Null: the contract does not have the interface, or cannot be run. @throws chain/*, lite/* */
async function readInterface(
  kind: ContractInterface,
  address: Address,
  view: ContractView,
): Promise<DetectedInterface['values'] | null> {
  try {
    return kind.row(await kind.read(view, await view.contract(address)));
  } catch (error) {
    if (isContractError(error) || (isTernError(error) && !PASSING.test(error.code))) return null;
    throw error;
  }
}

function accountOf(shardAccount: Cell): Account {
  return decodeCell(ShardAccount, shardAccount).account.value;
}

function initOf(account: Account | null) {
  if (account?.kind !== 'account' || account.storage.state.kind !== 'account_active') return null;
  return account.storage.state.state_init;
}

function codeOf(account: Account | null): Cell | null {
  return initOf(account)?.code ?? null;
}

function dataOf(account: Account | null): Cell | null {
  return initOf(account)?.data ?? null;
}

function sameCode(a: Account | null, b: Account | null): boolean {
  const [one, other] = [codeOf(a), codeOf(b)];
  if (one === null || other === null) return one === other;
  return bytesEqual(one.hash(), other.hash());
}
