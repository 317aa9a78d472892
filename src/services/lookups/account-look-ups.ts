import { DNS_ROOTS, type DnsRoot } from '#domain/contracts/dns-domain.js';
import type { Database, DatabaseReader } from '#drivers/store/database.js';
import { type IndexCoverage, isStateComplete } from '#drivers/store/index-state.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import {
  type AccountKnowledge,
  type IndexHeadBlock,
  knownJettonWallets,
  knownNftItems,
  readAccountKnowledge,
  readIndexHeadBlock,
  relatedContracts,
} from '#drivers/store/read/known-accounts.js';
import { importedAccountRow } from '#drivers/store/write/imported-account.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Semaphore } from '#kernel/semaphore.js';
import { type Flight, SingleFlight } from '#kernel/single-flight.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ContractViews } from '#services/emulation/contract-reads.js';
import { lookUpErrors } from '#services/lookups/errors.js';
import { LookUpWriter } from '#services/lookups/look-up-writer.js';
import type { LookUpMetrics } from '#services/lookups/metrics.js';
import type { LookUpLimits, LookUpReport, LookUps, NamedContracts } from '#services/lookups/named-contracts.js';
import { NamesOnChain } from '#services/lookups/names-on-chain.js';

export interface AccountLookUpOptions {
  /** Accounts that one request may have read from the chain. */
  readonly mostPerRequest: number;
  /** Accounts that are read at once, for all requests together. */
  readonly concurrency: number;
  /** Accounts that are remembered as absent. */
  readonly mostAbsent: number;
  /** DNS collections (see `DNS_ROOTS`) besides the well-known ones. */
  readonly dnsRoots: readonly DnsRoot[];
}

export interface AccountLookUpModules {
  readonly chain: Pick<ChainReads, 'account' | 'configParams'>;
  readonly contracts: ContractViews;
  /** What answers are read from; null while it is not open. */
  readonly index: () => Pick<Database, 'read'> | null;
  /** What accounts are written to. */
  readonly writer: () => Promise<Pick<Database, 'transaction'>>;
  readonly coverage: () => IndexCoverage | null;
  /** Contracts were queued for detection. */
  readonly onQueued: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Rounds of contracts that answers show with others: sale, its item, the collection of the item. */
const RELATED_ROUNDS = 3;

/** Pauses while contract detection is awaited. */
const LOOK_MIN_MS = 5;
const LOOK_MAX_MS = 100;

/** How long a replica is waited for. */
const VISIBLE_MS = 2_000;

/** Calls that wait for one of the concurrent reads; more are refused, and counted as unknown. */
const MOST_WAITING = 16_384;

const READ_MS = 5_000;

/**
 * {@link LookUps}: states are read as of the newest indexed masterchain block, with proof, from liteservers. Requests share the reads of
 * the same account.
 */
export class AccountLookUps implements LookUps {
  readonly #options: AccountLookUpOptions;
  readonly #modules: AccountLookUpModules;
  readonly #flights: SingleFlight<boolean>;
  readonly #permits: Semaphore;
  readonly #writer: LookUpWriter;
  readonly #names: NamesOnChain;
  readonly #counts = { requests: 0, found: 0, absent: 0, failed: 0, limited: 0, undetected: 0, seconds: 0 };
  #failure: string | null = null;

  constructor(options: AccountLookUpOptions, modules: AccountLookUpModules) {
    this.#options = options;
    this.#modules = modules;
    this.#flights = new SingleFlight(modules.clock);
    this.#permits = new Semaphore(options.concurrency, MOST_WAITING);
    this.#writer = new LookUpWriter(modules.writer, options.mostAbsent);
    this.#names = new NamesOnChain([...DNS_ROOTS, ...options.dnsRoots], modules);
  }

  metrics(): LookUpMetrics {
    return { ...this.#counts, running: this.#permits.taken, joined: this.#flights.joined };
  }

  async lookUp(named: NamedContracts, { deadlineMs, signal }: LookUpLimits): Promise<LookUpReport> {
    const { clock, coverage } = this.#modules;
    const known = coverage();
    // Who has no row does not exist, or there is nothing to look up for.
    if (known === null || isStateComplete(known) || known.history.length === 0)
      return { unknown: 0, absent: 0, read: 0, ran: 0 };
    const began = clock.now();
    const run = new LookUpRun(
      this.#options.mostPerRequest,
      { until: began + deadlineMs, signal },
      {
        ...this.#modules,
        names: this.#names,
        fetch: (address, block, until) => this.#fetch(address, block, { until, signal }),
      },
    );
    await run.all(named);
    signal.throwIfAborted();
    if (run.read > 0) {
      this.#counts.requests++;
      this.#counts.seconds += (clock.now() - began) / 1000;
    }
    this.#counts.limited += run.limited;
    this.#counts.undetected += run.undetected;
    return { unknown: run.unknown, absent: run.absent, read: run.read, ran: run.ran };
  }

  /** @returns whether it is in the index now; never fails */
  async #fetch(
    address: Address,
    block: IndexHeadBlock,
    { until, signal }: { readonly until: number; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const deadline = {
      until,
      signal,
      expired: () => lookUpErrors.late({}),
      aborted: () => lookUpErrors.late({}),
    };
    try {
      const key = `${block.seqno} ${address.toRaw()}`;
      const added = await this.#flights.do(key, (flight) => this.#read(address, block, flight), deadline);
      if (added) this.#failure = null;
      else this.#counts.failed++;
      return added;
    } catch (error) {
      this.#counts.failed++;
      this.#noteFailure(error);
      return false;
    }
  }

  async #read(address: Address, block: IndexHeadBlock, { signal, until }: Flight): Promise<boolean> {
    const { chain, clock } = this.#modules;
    const permit = this.#permits.acquire(signal);
    if (permit === null) throw lookUpErrors.busy({ waiting: this.#permits.waiting });
    const release = await permit;
    try {
      const deadlineMs = Math.max(1, Math.min(until - clock.now(), READ_MS));
      const at: BlockId = { ...MASTERCHAIN_SHARD, ...block };
      const read = await chain.account(address, { at, signal, deadlineMs, cache: false });
      const { cell, shard_utime, last_transaction } = read;
      const stored = addressBytes(address);
      const row =
        cell === null || shard_utime === null
          ? null
          : importedAccountRow(stored, cell, {
              last_trans_lt: last_transaction?.lt ?? 0n,
              last_trans_hash: last_transaction?.hash.slice() ?? new Uint8Array(32),
              mc_seqno: block.seqno,
              gen_utime: shard_utime,
            });
      const added = await this.#writer.add({ block, address: stored, row });
      if (added) this.#counts[row === null ? 'absent' : 'found']++;
      if (added && row?.code != null) this.#modules.onQueued();
      return added;
    } finally {
      release();
    }
  }

  #noteFailure(error: unknown): void {
    const code = isTernError(error) ? error.code : 'unknown';
    if (code === lookUpErrors.late.code || code === this.#failure) return;
    this.#failure = code;
    const problem = isTernError(error) ? error.message : String(error);
    this.#modules.logger.warn('accounts cannot be looked up', { code, problem });
  }
}

interface RunModules extends Pick<AccountLookUpModules, 'index' | 'clock'> {
  readonly names: NamesOnChain;
  readonly fetch: (address: Address, block: IndexHeadBlock, until: number) => Promise<boolean>;
}

/** The look-ups of one request. */
class LookUpRun {
  readonly #modules: RunModules;
  readonly #until: number;
  readonly #signal: AbortSignal;
  readonly #unknown = new Set<string>();
  /** Contracts that are known with all that follows from them. */
  readonly #done = new Set<string>();
  readonly #absent = new Set<string>();
  #left: number;
  absent = 0;
  read = 0;
  ran = 0;
  limited = 0;
  undetected = 0;

  constructor(
    most: number,
    { until, signal }: { readonly until: number; readonly signal: AbortSignal },
    modules: RunModules,
  ) {
    this.#left = most;
    this.#until = until;
    this.#signal = signal;
    this.#modules = modules;
  }

  get unknown(): number {
    return this.#unknown.size;
  }

  async all({ accounts = [], contracts = [], jettonWallets = [], nftItems = [], domains = [] }: NamedContracts) {
    const found = await Promise.all([
      this.#jettonWallets(jettonWallets),
      this.#nftItems(nftItems),
      this.#resolve(
        domains.map((domain) => ({
          name: `domain ${domain}`,
          find: (block: BlockId) => this.#modules.names.domain(domain, this.#limits(block)),
        })),
      ),
    ]);
    await this.#accounts(accounts.map(addressOf));
    await this.#contracts([...contracts.map(addressOf), ...found.flat()]);
    this.absent = accounts.filter((raw) => this.#absent.has(toHex(addressBytes(addressOf(raw))))).length;
  }

  /** States. */
  async #accounts(wanted: readonly Address[]): Promise<void> {
    const addresses = distinct(wanted);
    if (addresses.length === 0) return;
    const missing = (await this.#knowledge(addresses)).filter(({ known }) => !known);
    if (missing.length === 0) return;
    const byRaw = new Map(addresses.map((address) => [toHex(addressBytes(address)), address]));
    const all = missing.map(({ address }) => byRaw.get(toHex(address))!);
    const fetched = this.#take(all, (address) => address.toRaw());
    const block = fetched.length === 0 ? null : await this.#head();
    if (block === null) return this.#giveUp(all);
    this.read += fetched.length;
    const added = await Promise.all(fetched.map((address) => this.#modules.fetch(address, block, this.#until)));
    this.#giveUp(fetched.filter((_, i) => !added[i]));
    await this.#untilVisible(fetched.filter((_, i) => added[i]));
  }

  /** States, and what contract detection finds of them and of what they name. */
  async #contracts(wanted: readonly Address[]): Promise<void> {
    let round = distinct(wanted).filter((address) => !this.#done.has(address.toRaw()));
    for (let rounds = 0; rounds <= RELATED_ROUNDS && round.length > 0; rounds++) {
      await this.#accounts(round);
      const known = round.filter((address) => !this.#unknown.has(address.toRaw()));
      await this.#untilDetected(known);
      for (const address of round) this.#done.add(address.toRaw());
      if (known.length === 0) return;
      const related = await this.#reading((reader) => relatedContracts(reader, known.map(addressBytes)));
      round = distinct(related.map(addressOfBytes)).filter((address) => !this.#done.has(address.toRaw()));
    }
  }

  async #jettonWallets(pairs: readonly { readonly owner: string; readonly jetton: string }[]): Promise<Address[]> {
    if (pairs.length === 0) return [];
    const parsed = pairs.map(({ owner, jetton }) => ({ owner: addressOf(owner), jetton: addressOf(jetton) }));
    const stored = parsed.map(({ owner, jetton }) => ({ owner: addressBytes(owner), jetton: addressBytes(jetton) }));
    const known = await this.#reading((reader) => knownJettonWallets(reader, stored));
    return this.#resolve(
      parsed
        .filter((_, i) => !known.has(i))
        .map(({ owner, jetton }) => ({
          name: `wallet of ${owner.toRaw()} at ${jetton.toRaw()}`,
          find: (block: BlockId) => this.#modules.names.jettonWallet(jetton, owner, this.#limits(block)),
        })),
    );
  }

  /** Those that are known are looked at all the same, for what answers show with them. */
  async #nftItems(places: readonly { readonly collection: string; readonly index: bigint }[]): Promise<Address[]> {
    if (places.length === 0) return [];
    const parsed = places.map(({ collection, index }) => ({ collection: addressOf(collection), index }));
    const stored = parsed.map(({ collection, index }) => ({ collection: addressBytes(collection), index }));
    const known = await this.#reading((reader) => knownNftItems(reader, stored));
    const found = await this.#resolve(
      parsed
        .filter((_, i) => !known.has(i))
        .map(({ collection, index }) => ({
          name: `item ${index} of ${collection.toRaw()}`,
          find: (block: BlockId) => this.#modules.names.nftItem(collection, index, this.#limits(block)),
        })),
    );
    return [...Array.from(known.values(), addressOfBytes), ...found];
  }

  /** Addresses that names stand for. */
  async #resolve(
    names: readonly { readonly name: string; readonly find: (block: BlockId) => Promise<readonly Address[]> }[],
  ): Promise<Address[]> {
    const taken = this.#take(names, ({ name }) => name);
    const head = taken.length === 0 ? null : await this.#head();
    if (head === null) {
      for (const { name } of taken) this.#unknown.add(name);
      return [];
    }
    const block: BlockId = { ...MASTERCHAIN_SHARD, ...head };
    const found = await Promise.all(
      taken.map(async ({ name, find }) => {
        try {
          return await find(block);
        } catch {
          this.#unknown.add(name);
          return [];
        }
      }),
    );
    return found.flat();
  }

  /** As many as the request may still look up; the others are unknown. */
  #take<T>(wanted: readonly T[], nameOf: (one: T) => string): readonly T[] {
    const taken = wanted.slice(0, this.#left);
    this.#left -= taken.length;
    for (const one of wanted.slice(taken.length)) this.#unknown.add(nameOf(one));
    this.limited += wanted.length - taken.length;
    return taken;
  }

  #giveUp(addresses: readonly Address[]): void {
    for (const address of addresses) this.#unknown.add(address.toRaw());
  }

  /** A replica has what was written some time later. */
  async #untilVisible(addresses: readonly Address[]): Promise<void> {
    await this.#waitFor(addresses, ({ known }) => known, this.#modules.clock.now() + VISIBLE_MS);
  }

  async #untilDetected(addresses: readonly Address[]): Promise<void> {
    this.undetected += await this.#waitFor(addresses, ({ undetected }) => !undetected);
  }

  /** Waits until a condition holds for all accounts; those for which it does not in time are unknown. @returns how many */
  async #waitFor(
    addresses: readonly Address[],
    holds: (known: AccountKnowledge) => boolean,
    until = this.#until,
  ): Promise<number> {
    const { clock } = this.#modules;
    let waiting = addresses;
    for (let ms = LOOK_MIN_MS; waiting.length > 0; ms = Math.min(2 * ms, LOOK_MAX_MS)) {
      const left = new Set(
        (await this.#knowledge(waiting)).filter((each) => !holds(each)).map(({ address }) => toHex(address)),
      );
      waiting = waiting.filter((address) => left.has(toHex(addressBytes(address))));
      if (waiting.length === 0) break;
      const leftMs = Math.min(until, this.#until) - clock.now();
      if (leftMs <= 0 || this.#signal.aborted) break;
      await pause(Math.min(ms, leftMs), clock, this.#signal);
    }
    this.#giveUp(waiting);
    return waiting.length;
  }

  async #knowledge(addresses: readonly Address[]): Promise<readonly AccountKnowledge[]> {
    const known = await this.#reading((reader) => readAccountKnowledge(reader, addresses.map(addressBytes)));
    for (const { address, absent } of known) if (absent) this.#absent.add(toHex(address));
    return known;
  }

  #head(): Promise<IndexHeadBlock | null> {
    return this.#reading(readIndexHeadBlock);
  }

  #reading<T>(work: (reader: DatabaseReader) => Promise<T>): Promise<T> {
    const database = this.#modules.index();
    if (database === null) throw lookUpErrors['no-index']({});
    return database.read(work, { signal: this.#signal, timeoutMs: READ_MS });
  }

  #limits(at: BlockId) {
    const deadlineMs = Math.max(1, this.#until - this.#modules.clock.now());
    return { at, signal: this.#signal, deadlineMs, onRun: () => void this.ran++ };
  }
}

function addressOf(raw: string): Address {
  return parseAddress(raw).address;
}

function distinct(addresses: readonly Address[]): Address[] {
  return [...new Map(addresses.map((address) => [address.toRaw(), address])).values()];
}
