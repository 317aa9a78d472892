import type pg from 'pg';
import type { ClientBase } from 'pg';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import type { Database } from '#drivers/store/database.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { accountKey, addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { addImportedAccounts, setCodeMethods } from '#drivers/store/write/accounts.js';
import { endClassificationWaits } from '#drivers/store/write/actions.js';
import {
  countQueued,
  type DetectedEntry,
  nextQueued,
  postponeQueued,
  type QueuedContract,
  queueReferrers,
  queueRefusedReferrers,
  recordChangedContracts,
  removeQueued,
  writeReferences,
} from '#drivers/store/write/contract-queue.js';
import { writeContracts } from '#drivers/store/write/contracts.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import {
  nextPastContracts,
  postponePastContracts,
  type ReadPastContract,
  type WantedPastContract,
  writePastContracts,
} from '#drivers/store/write/past-contracts.js';
import { confirmEvents } from '#drivers/store/write/token-events.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import type { Clock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import {
  type ContractAccount,
  ContractAccounts,
  type ContractCodes,
  type PublishedLibraryCache,
  unindexedAccountRow,
  unindexedContractAccount,
} from '#services/indexer/contracts/contract-accounts.js';
import type { ContractMethodRunner } from '#services/indexer/contracts/contract-methods.js';
import {
  type DetectContractModules,
  type DetectionResult,
  detectContract,
  IndexedContractView,
  isChange,
  type KnownContract,
  newlyVerified,
  readKnownContracts,
} from '#services/indexer/contracts/detect-contract.js';
import type { DetectionChain, DetectPace, DetectSums } from '#services/indexer/contracts/detect-protocol.js';
import { deriveNextAccounts, isDerived } from '#services/indexer/derivations/derivation-progress.js';
import { contracts } from '#services/indexer/derivations/registered.js';
import { WakeLoop, type WakeLoopModules } from '#services/indexer/wake-loop.js';

export interface ContractDetectorModules extends DetectContractModules {
  readonly database: Database;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly unixTime: () => number;
  readonly chain: DetectionChain;
  readonly codes: ContractCodes;
  readonly libraries: PublishedLibraryCache;
  readonly runs: ContractMethodRunner;
  /** Whether accounts read from the chain are stored, i.e. all accounts are indexed. */
  readonly storesUnindexed: boolean;
}

/** Errors of the database, and of a TVM pool that is closing: they say nothing about a contract. */
const INDEX_ERRORS = /^store\/|^tvm\/(closed|not-started)$/;

/** Accounts per detection batch. */
const BATCH = 256;

/** Pause before a postponed detection is retried, in seconds: doubled each time. */
const RETRY_SECONDS = { first: 2, last: 3600 };

interface DetectionOutcome {
  readonly queued: QueuedContract;
  readonly state: ContractAccount | null;
  /** Null: detection was postponed. */
  readonly detected: DetectionResult | null;
}

/** Detects the contract interfaces of queued accounts, batch by batch. */
export class ContractDetector {
  readonly #modules: ContractDetectorModules;

  constructor(modules: ContractDetectorModules) {
    this.#modules = modules;
  }

  /**
   * Detects the next due accounts and writes the results.
   *
   * @returns null when no account is due
   * @throws store/*: nothing was written
   */
  async next(newestFirst: boolean): Promise<DetectSums | null> {
    const { database, clock, unixTime, runs } = this.#modules;
    const startedAt = clock.now();
    const runsBefore = runs.count;
    const queued = await database.withWriter((client) => nextQueued(client, { newestFirst, now: unixTime() }, BATCH));
    if (queued.length === 0) return null;
    const states = new ContractAccounts(this.#modules);
    const counts = { natively: 0 };
    const known = await database.withWriter((client) => readKnownContracts(client, queued));
    const detected = await Promise.all(
      queued.map((each) => this.#detect(each, states, known.get(addressKey(each.address)) ?? null, counts)),
    );
    await database.transaction((client) => this.#write(client, detected, states, known));
    const refused: Record<string, number> = {};
    for (const each of detected) {
      for (const [kind, reason] of Object.entries(each.detected?.found.refused ?? {})) {
        const key = `${kind} ${reason}`;
        refused[key] = (refused[key] ?? 0) + 1;
      }
    }
    return {
      detected: detected.length,
      natively: counts.natively,
      runs: runs.count - runsBefore,
      postponed: detected.filter((each) => each.detected === null && each.state?.incomplete !== true).length,
      seconds: (clock.now() - startedAt) / 1000,
      refused,
    };
  }

  async #detect(
    queued: QueuedContract,
    states: ContractAccounts,
    known: KnownContract | null,
    counts: { natively: number },
  ): Promise<DetectionOutcome> {
    const { libraries, runs } = this.#modules;
    // A failed read of a queued account fails the batch; of a referenced account, only this detection.
    const state = await states.get(addressOfBytes(queued.address));
    // An incomplete account is queued again when it is completed.
    if (state === null || state.incomplete) return { queued, state, detected: null };
    const onNative = () => void counts.natively++;
    const view = new IndexedContractView(state, { states, runs, libraries, onNative });
    try {
      return { queued, state, detected: await detectContract(state, view, known, queued.attempts, this.#modules) };
    } catch (error) {
      // Says nothing about the contract: the whole batch is retried.
      if (isTernError(error) && INDEX_ERRORS.test(error.code)) throw error;
      this.#modules.onPostponed(error);
      return { queued, state, detected: null };
    }
  }

  async #write(
    client: pg.ClientBase,
    all: readonly DetectionOutcome[],
    states: ContractAccounts,
    known: ReadonlyMap<string, KnownContract>,
  ): Promise<void> {
    const { storesUnindexed, unixTime } = this.#modules;
    const done = all.filter(({ detected, state }) => detected !== null || state === null || state.incomplete);
    const postponed = all.filter((each) => !done.includes(each));
    const written = done.flatMap(({ detected }) => {
      const isKnown = detected !== null && known.has(detected.found.address.toRaw());
      const hasResult =
        detected !== null && (detected.found.rows.length > 0 || Object.keys(detected.found.refused).length > 0);
      return detected !== null && (isKnown || hasResult) ? [detected] : [];
    });
    const unindexed = storesUnindexed ? states.unindexed.map(unindexedAccountRow).filter((row) => row !== null) : [];
    const changed = written.filter(({ found }) => isChange(found, known.get(found.address.toRaw()) ?? null));
    // Batches change accounts and the queue under this lock, and find there which wallets and items are confirmed.
    await lockTraces(client);
    await lockEvents(client);
    await addImportedAccounts(client, unindexed, WALLET_CODE_HASHES);
    if (unindexed.length > 0) {
      await recordContractChange(
        client,
        unindexed.map(({ account }) => accountKey(account.address)),
      );
    }
    for (const { code_hash, methods } of states.newMethods) await setCodeMethods(client, code_hash, methods);
    if (states.newMethods.length > 0) await recordContractChange(client, null);
    if (written.length > 0) {
      await writeContracts(
        client,
        written.map(({ found }) => found),
      );
      const { wallets, items } = newlyVerified(
        written.map(({ found }) => found),
        known,
      );
      const changedEvents = await confirmEvents(client, wallets, items);
      if (changedEvents.owners.length > 0) await recordContractChange(client, [], changedEvents);
      await writeReferences(
        client,
        written.map(({ found, referenced }) => ({ address: addressBytes(found.address), referenced })),
      );
      if (changed.length > 0)
        await recordChangedContracts(
          client,
          changed.map(({ found }) => addressBytes(found.address)),
        );
    }
    const stateful = done.filter(
      ({ queued, detected, state }) => detected !== null && !queued.again && mayAnswerOtherwise(state),
    );
    await queueRefusedReferrers(
      client,
      stateful.map(({ queued }) => queued.address),
      unixTime(),
    );
    await removeQueued(
      client,
      done.map((each) => ({
        ...{ address: each.queued.address, incomplete: each.detected === null && each.state?.incomplete === true },
        ...detectedPlace(each),
      })),
    );
    // Traces are classified with what is known now; those of contracts that will be known later without them, for the time being.
    const settled = all.filter((each) => done.includes(each) || each.queued.attempts === 0);
    await endClassificationWaits(
      client,
      settled.map(({ queued }) => queued.address),
    );
    const now = unixTime();
    if (postponed.length === 0) return;
    await postponeQueued(
      client,
      postponed.map(({ queued }) => ({
        contract: queued,
        not_before: now + Math.min(RETRY_SECONDS.first * 2 ** Math.min(queued.attempts, 20), RETRY_SECONDS.last),
      })),
    );
  }
}

/** For code with a native reader, routine data changes do not alter what it confirms about other contracts. */
function mayAnswerOtherwise(state: ContractAccount | null): boolean {
  return state?.running != null && nativeCodeOf(state.running.code.cell) === null;
}

function addressKey(address: Uint8Array): string {
  return addressOfBytes(address).toRaw();
}

/**
 * What an entry has to be compared with. A state with its `last_trans_lt` may have a later `mc_seqno`: an account that an import deletes
 * keeps the former, and does not enter the queue again unless it has a row in `contracts`.
 */
function detectedPlace({ queued, state }: DetectionOutcome): Pick<DetectedEntry, 'last_trans_lt' | 'mc_seqno'> {
  const { last_trans_lt, mc_seqno } = queued;
  if (state === null) return { last_trans_lt, mc_seqno };
  if (state.last_trans_lt > last_trans_lt) return { last_trans_lt: state.last_trans_lt, mc_seqno: state.mc_seqno };
  return { last_trans_lt, mc_seqno: Math.min(mc_seqno, state.mc_seqno) };
}

export interface DetectLoopModules extends WakeLoopModules {
  readonly detector: Pick<ContractDetector, 'next'>;
  readonly past: Pick<PastContractReader, 'next'>;
  readonly database: Database;
  /** Unix seconds. */
  readonly unixTime: () => number;
  readonly onDetected: (sums: DetectSums) => void;
  /** Called periodically with the queue length. */
  readonly onQueued: (queued: number) => void;
  /** No account is due. `wake`: number of the last wake received before the check; `soon`: accounts that will be due within seconds. */
  readonly onIdle: (wake: number, queued: number, soon: number) => void;
}

/** Accounts queued per page of a rederivation. */
const QUEUE_PAGE = 2000;

/** Interval of counting the queue, which is slow for a long queue. */
const COUNT_MS = 5000;
/** Minimum assumed work time when leaving time to others. */
const MIN_WORK_MS = 20;

/** Detects contracts while any are due, and then waits. */
export class DetectLoop extends WakeLoop<DetectPace> {
  readonly #modules: DetectLoopModules;
  #counted = Number.NEGATIVE_INFINITY;

  constructor(modules: DetectLoopModules) {
    super({ newestFirst: false, share: 1 }, modules);
    this.#modules = modules;
  }

  protected async step(): Promise<boolean> {
    const { detector, past, database, clock, onDetected, onQueued } = this.#modules;
    const startedAt = clock.now();
    if (startedAt - this.#counted >= COUNT_MS) {
      onQueued((await database.withWriter(countQueued)).all);
      this.#counted = startedAt;
    }
    const sums = (await detector.next(this.pace.newestFirst)) ?? (await past.next());
    if (sums === null) return this.#queueMore();
    onDetected(sums);
    const { share } = this.pace;
    if (share < 1) await this.rest(Math.max(clock.now() - startedAt, MIN_WORK_MS) * (1 / share - 1));
    return true;
  }

  protected async idle(wake: number): Promise<void> {
    const { database, onIdle } = this.#modules;
    const { all, soon } = await database.withWriter(countQueued);
    onIdle(wake, all, soon);
  }

  /** @returns whether there may be accounts to detect */
  async #queueMore(): Promise<boolean> {
    const { database, unixTime } = this.#modules;
    return database.transaction(async (client) => {
      if ((await isDerived(client, contracts)) && (await this.#nothingChanged(client))) return false;
      await lockTraces(client);
      if ((await queueReferrers(client, unixTime(), QUEUE_PAGE)) > 0) return true;
      return deriveNextAccounts(client, contracts, unixTime());
    });
  }

  async #nothingChanged(client: ClientBase): Promise<boolean> {
    const { rows } = await client.query('SELECT FROM changed_contracts LIMIT 1');
    return rows.length === 0;
  }
}

/** States read at a time. */
const PAST_BATCH = 16;

/**
 * Reads contracts as of an earlier masterchain block, for classification: the account with proof from the chain, its interfaces as
 * detection finds them. What it says of other contracts is compared with their newest states.
 */
export class PastContractReader {
  readonly #modules: ContractDetectorModules;

  constructor(modules: ContractDetectorModules) {
    this.#modules = modules;
  }

  /** Reads the next ones and queues the traces that wait for them. @returns null when none is due @throws store/*: nothing was written */
  async next(): Promise<DetectSums | null> {
    const { database, clock, unixTime, runs } = this.#modules;
    const startedAt = clock.now();
    const runsBefore = runs.count;
    const wanted = await database.withWriter((client) => nextPastContracts(client, unixTime(), PAST_BATCH));
    if (wanted.length === 0) return null;
    const states = new ContractAccounts(this.#modules);
    const counts = { natively: 0 };
    const read = await Promise.all(wanted.map((each) => this.#read(each, states, counts)));
    const done = read.filter((each) => each !== null);
    const postponed = wanted.filter((_, i) => read[i] === null);
    await database.transaction(async (client) => {
      await lockEvents(client);
      await writePastContracts(client, done);
      await postponePastContracts(client, postponed, unixTime());
      await endClassificationWaits(
        client,
        done.map(({ address }) => addressBytes(address)),
      );
    });
    return {
      detected: done.length,
      natively: counts.natively,
      runs: runs.count - runsBefore,
      postponed: postponed.length,
      seconds: (clock.now() - startedAt) / 1000,
      refused: {},
    };
  }

  /** Null: it cannot be read now. */
  async #read(
    { address, mc_seqno, attempts }: WantedPastContract,
    states: ContractAccounts,
    counts: { natively: number },
  ): Promise<ReadPastContract | null> {
    const { chain, codes, libraries, runs, onPostponed } = this.#modules;
    const nothing = { address, mc_seqno, code_hash: null, rows: [] };
    try {
      const account = await chain.accountAt(addressBytes(address), mc_seqno);
      if (account === 'unavailable') return { ...nothing, outcome: account };
      const state = account === null ? null : await unindexedContractAccount(address, account, codes);
      if (state === null) return { ...nothing, outcome: 'read' };
      const onNative = () => void counts.natively++;
      const view = new IndexedContractView(state, { states, runs, libraries, onNative });
      const { found } = await detectContract(state, view, null, attempts, this.#modules);
      return { address, mc_seqno, outcome: 'read', code_hash: state.code_hash, rows: found.rows };
    } catch (error) {
      if (isTernError(error) && INDEX_ERRORS.test(error.code)) throw error;
      onPostponed(error);
      return null;
    }
  }
}
