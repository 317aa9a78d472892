import type pg from 'pg';
import type { ActionType, DetailFields } from '#domain/actions/action-type.js';
import type { Classification } from '#domain/actions/classify.js';
import type { ContractFacts, FactRequest, TraceFacts } from '#domain/actions/trace-facts.js';
import { type TracedTransaction, type TraceInput, traceTransaction } from '#domain/actions/trace-input.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { addressBytes, seqnoOfId } from '#drivers/store/keys.js';
import { loadTransaction, sharedCodes } from '#drivers/store/stored-transaction.js';
import { readStoredCodes } from '#drivers/store/write/accounts.js';
import {
  type ClassificationWait,
  type NewClassification,
  type NumberedLayout,
  writeClassifications,
  writeClassificationWaits,
} from '#drivers/store/write/actions.js';
import { type CompleteTrace, readCompleteTraces } from '#drivers/store/write/derivations.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import {
  type PastContract,
  type PastFacts,
  pastKey,
  readPastFacts,
  wantPastContracts,
} from '#drivers/store/write/past-contracts.js';
import { type AccountFacts, readAccountData, readAccountFacts } from '#drivers/store/write/trace-facts.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type Message, normalizedExternalHash } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';

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

/** The classifier (domain/actions), as this module uses it. */
export interface Classifier {
  /** Rises when the same trace gives other actions. */
  readonly version: number;
  readonly types: Iterable<ActionType<string, DetailFields>>;
  classify(trace: TraceInput, facts: TraceFacts): Classification;
}

/** A trace whose classification failed. */
export interface FailedTrace {
  /** In hexadecimal. */
  readonly trace_id: string;
  readonly pattern: string | null;
  readonly problem: string;
}

/** Traces that were classified and are to be written. */
export interface ClassifiedPage {
  readonly traces: readonly NewClassification[];
  readonly waits: readonly ClassificationWait[];
  /** What contracts were at the end of these traces is to be read from the chain. */
  readonly past: readonly PastContract[];
  readonly transactions: number;
  readonly failed: readonly FailedTrace[];
  /** How often patterns nearly matched, by pattern and kind of reason: `jetton_transfer interface`. */
  readonly nearMisses: Readonly<Record<string, number>>;
}

/** A classification asks for more facts at most so often. */
const MOST_ROUNDS = 4;
/** Memory for codes that stored transactions leave out, in bytes of their bags of cells. */
const CODE_CACHE_BYTES = 16 * 2 ** 20;

/** A trace and what was found of it. */
interface TraceInWork {
  readonly root: bigint;
  readonly end_lt: bigint;
  readonly input: TraceInput;
  readonly external_hash: Uint8Array | null;
  readonly external_hash_norm: Uint8Array | null;
  readonly facts: FactsAtTrace;
  result: Classification | null;
}

/** Reads complete traces, has them classified, and writes their actions. */
export class TraceClassification {
  readonly #classifier: Classifier;
  readonly #layouts: ReadonlyMap<string, NumberedLayout>;
  readonly #codes = new LruByBytes<Cell>(CODE_CACHE_BYTES);

  constructor(classifier: Classifier, layouts: ReadonlyMap<string, NumberedLayout>) {
    this.#classifier = classifier;
    this.#layouts = layouts;
  }

  /** Classifies complete traces with what the index knows of their contracts: a few statements, however many traces there are. */
  async classify(client: pg.ClientBase, roots: readonly bigint[]): Promise<ClassifiedPage> {
    const stored = await readCompleteTraces(client, roots);
    await this.#loadCodes(client, stored);
    const failed: FailedTrace[] = [];
    const contracts = new Map<string, AccountFacts>();
    const data = new Map<string, Cell | null>();
    const traces = stored.map((trace) => this.#open(trace, contracts, data));
    let waiting: readonly TraceInWork[] = traces;
    let wanted: readonly FactRequest[] = traces.flatMap(({ input }) =>
      input.transactions.map(({ account }) => ({ address: account, what: 'contract' }) as const),
    );
    for (let round = 0; round < MOST_ROUNDS && waiting.length > 0; round++) {
      await readFacts(client, wanted, contracts, data);
      for (const trace of waiting) trace.result = this.#classifier.classify(trace.input, trace.facts);
      waiting = waiting.filter(({ result }) => result!.wanted.length > 0);
      wanted = waiting.flatMap(({ result }) => result!.wanted);
    }
    const past = await this.#withPast(client, traces, contracts, data);
    const nearMisses: Record<string, number> = {};
    const written: NewClassification[] = [];
    const waits: ClassificationWait[] = [];
    for (const trace of traces) {
      const { root, input, facts } = trace;
      const result = trace.result!;
      for (const { pattern, reason } of result.nearMisses) {
        const key = `${pattern} ${reason.kind}`;
        nearMisses[key] = (nearMisses[key] ?? 0) + 1;
      }
      if (result.failure !== null) failed.push(failedTrace(input, result.failure));
      for (const address of facts.undetected.values()) waits.push({ root, address: addressBytes(address) });
      for (const { address } of past.get(trace) ?? []) waits.push({ root, address: addressBytes(address) });
      // Detection is about to look at these contracts. What was written of the trace before stands until then.
      const isHeld = facts.undetected.size > 0 && !facts.hasPostponed;
      if (!isHeld) written.push(this.#classification(trace, result));
    }
    const transactions = traces.reduce((sum, { input }) => sum + input.transactions.length, 0);
    return { traces: written, waits, past: [...past.values()].flat(), transactions, failed, nearMisses };
  }

  /**
   * Classifies traces again for which it matters what contracts were at their end, with what was read of that.
   *
   * @returns what is still to be read; until then traces are classified with the newest known states
   */
  async #withPast(
    client: pg.ClientBase,
    traces: readonly TraceInWork[],
    contracts: Map<string, AccountFacts>,
    data: Map<string, Cell | null>,
  ): Promise<ReadonlyMap<TraceInWork, readonly PastContract[]>> {
    let concerned = traces.filter(({ facts }) => facts.outdated.size > 0);
    const missing = new Map<TraceInWork, readonly PastContract[]>();
    for (let round = 0; round < MOST_ROUNDS && concerned.length > 0; round++) {
      const known = await readPastFacts(
        client,
        concerned.flatMap(({ facts }) => [...facts.outdated.values()]),
      );
      const changed: TraceInWork[] = [];
      for (const trace of concerned) {
        const wanted = [...trace.facts.outdated.values()];
        const isKnown = (one: PastContract) => (known.get(pastKey(one))?.outcome ?? 'wanted') !== 'wanted';
        missing.set(trace, [...(missing.get(trace) ?? []), ...wanted.filter((one) => !isKnown(one))]);
        for (const one of wanted.filter(isKnown)) trace.facts.add(one.address, known.get(pastKey(one))!);
        if (wanted.some((one) => known.get(pastKey(one))?.outcome === 'read')) changed.push(trace);
      }
      for (const trace of changed) {
        trace.facts.outdated.clear();
        trace.result = this.#classifier.classify(trace.input, trace.facts);
        await readFacts(client, trace.result.wanted, contracts, data);
        if (trace.result.wanted.length > 0) trace.result = this.#classifier.classify(trace.input, trace.facts);
      }
      concerned = changed.filter(({ facts }) => facts.outdated.size > 0);
    }
    return missing;
  }

  /** Writes what was classified, in the transaction of the caller, and records that answers made before do not hold any more. */
  async write(client: pg.ClientBase, { traces, waits, past }: ClassifiedPage): Promise<void> {
    if (traces.length + waits.length + past.length > 0) await lockEvents(client);
    if (traces.length > 0) {
      const participants = await writeClassifications(client, traces, this.#layouts);
      await recordContractChange(client, participants, { traces: traces.map(({ root }) => root) });
    }
    await wantPastContracts(client, past);
    await writeClassificationWaits(client, waits);
  }

  #classification(trace: TraceInWork, result: Classification): NewClassification {
    const { root, end_lt, external_hash, external_hash_norm, facts, input } = trace;
    return {
      ...{ root, end_lt, external_hash, external_hash_norm },
      version: this.#classifier.version,
      state: facts.undetected.size > 0 && result.state === 'ok' ? 'unclassified' : result.state,
      actions: result.actions.map((action) => {
        const { transactions, ...rest } = action;
        return { ...rest, transactions: transactions.map((position) => input.transactions[position]!.hash) };
      }),
    };
  }

  #open(
    { root, transactions }: CompleteTrace,
    contracts: ReadonlyMap<string, AccountFacts>,
    data: ReadonlyMap<string, Cell | null>,
  ): TraceInWork {
    const opened: TraceInput['transactions'][number][] = [];
    let end_lt = 0n;
    let first: { hash: Uint8Array; in_msg: Transaction['in_msg'] } | null = null;
    for (const { id, workchain, boc, lt } of transactions) {
      const cell = loadTransaction(boc, (hash) => this.#codes.get(toHex(hash)) ?? null);
      const transaction = decodeCell(Transaction, cell);
      const hash = cell.hash(0).slice();
      const account = Address.ofParts(workchain, transaction.account_addr);
      opened.push(traceTransaction(transaction, { hash, account, mc_seqno: seqnoOfId(id) }));
      if (id === root) first = { hash, in_msg: transaction.in_msg };
      if (lt > end_lt) end_lt = lt;
    }
    const trace_id = first?.hash ?? opened[0]!.hash;
    return {
      ...{ root, end_lt, input: { trace_id, transactions: opened }, ...externalHashes(first?.in_msg ?? null) },
      facts: new FactsAtTrace(opened, { contracts, data }),
      result: null,
    };
  }

  async #loadCodes(client: pg.ClientBase, traces: readonly CompleteTrace[]): Promise<void> {
    const missing = new Map<string, Uint8Array>();
    for (const { transactions } of traces) {
      for (const { boc } of transactions) {
        for (const hash of sharedCodes(boc)) {
          const key = toHex(hash);
          if (this.#codes.get(key) === undefined) missing.set(key, hash);
        }
      }
    }
    for (const { code_hash, boc } of await readStoredCodes(client, [...missing.values()])) {
      this.#codes.set(toHex(code_hash), parseBocRoot(boc), boc.length);
    }
  }
}

/** The message that a trace began with. */
function externalHashes(
  in_msg: { readonly value: Message; readonly cell: Cell } | null,
): Pick<TraceInWork, 'external_hash' | 'external_hash_norm'> {
  if (in_msg === null) return { external_hash: null, external_hash_norm: null };
  const external_hash = in_msg.cell.hash(0).slice();
  if (in_msg.value.info.kind !== 'ext_in_msg_info') return { external_hash, external_hash_norm: null };
  const norm = normalizedExternalHash(in_msg.value);
  return { external_hash, external_hash_norm: bytesEqual(norm, external_hash) ? null : norm.slice() };
}

async function readFacts(
  client: pg.ClientBase,
  wanted: readonly FactRequest[],
  contracts: Map<string, AccountFacts>,
  data: Map<string, Cell | null>,
): Promise<void> {
  const asked = { contract: new Map<string, Address>(), data: new Map<string, Address>() };
  for (const { address, what } of wanted) asked[what].set(address.toRaw(), address);
  const missing = (kind: 'contract' | 'data', known: ReadonlyMap<string, unknown>) =>
    [...asked[kind]].filter(([raw]) => !known.has(raw)).map(([, address]) => address);
  for (const [raw, facts] of await readAccountFacts(client, missing('contract', contracts))) contracts.set(raw, facts);
  for (const [raw, cell] of await readAccountData(client, missing('data', data))) data.set(raw, cell);
}

function failedTrace(
  { trace_id }: TraceInput,
  { pattern, error }: NonNullable<Classification['failure']>,
): FailedTrace {
  return { trace_id: toHex(trace_id), pattern, problem: error instanceof Error ? error.message : String(error) };
}
