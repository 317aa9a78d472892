import type pg from 'pg';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import type { Database } from '#drivers/store/database.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { addImportedAccounts, setCodeMethods } from '#drivers/store/write/accounts.js';
import {
  nextQueued,
  postponeQueued,
  type QueuedContract,
  queueRefusedReferrers,
  recordChangedContracts,
  removeQueued,
  writeReferences,
} from '#drivers/store/write/contract-queue.js';
import { writeContracts } from '#drivers/store/write/contracts.js';
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
import type { DetectionChain, DetectSums } from '#services/indexer/contracts/detect-protocol.js';
import { WALLET_CODE_HASHES } from '#services/indexer/contracts/plain-codes.js';

export interface ContractDetectorModules extends DetectContractModules {
  readonly database: Database;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly unixTime: () => number;
  readonly chain: DetectionChain;
  readonly codes: ContractCodes;
  readonly libraries: PublishedLibraryCache;
  readonly runs: ContractMethodRunner;
  /** Whether accounts that are asked for are kept: all are indexed. */
  readonly keepsForeign: boolean;
}

/** Of the database, and of one that is being closed. */
const INDEX_ERRORS = /^store\/|^tvm\/(closed|not-started)$/;

/** So many are looked at together, and at most so many at the same moment. */
const BATCH = 256;

/** Pauses before a contract is looked at again that could not be asked, in seconds: doubled each time. */
const RETRY_SECONDS = { first: 2, last: 3600 };

interface DetectionOutcome {
  readonly queued: QueuedContract;
  readonly state: ContractAccount | null;
  /** Null: it could not be asked. */
  readonly looked: DetectionResult | null;
}

/** Looks at accounts for what contracts they are, batch by batch. */
export class ContractDetector {
  readonly #modules: ContractDetectorModules;

  constructor(modules: ContractDetectorModules) {
    this.#modules = modules;
  }

  /**
   * Looks at the next ones that are due, and writes what was found.
   *
   * @returns null when none is due
   * @throws store/*, and what reading known contracts throws: nothing was written
   */
  async next(newestFirst: boolean): Promise<DetectSums | null> {
    const { database, clock, unixTime, runs } = this.#modules;
    const begun = clock.now();
    const runsBefore = runs.count;
    const queued = await database.withWriter((client) => nextQueued(client, { newestFirst, now: unixTime() }, BATCH));
    if (queued.length === 0) return null;
    const states = new ContractAccounts(this.#modules);
    const counts = { natively: 0 };
    const known = await database.withWriter((client) => readKnownContracts(client, queued));
    const looked = await Promise.all(
      queued.map((each) => this.#look(each, states, known.get(addressKey(each.address)) ?? null, counts)),
    );
    await database.transaction((client) => this.#write(client, looked, states, known));
    const refused: Record<string, number> = {};
    for (const each of looked) {
      for (const [kind, reason] of Object.entries(each.looked?.found.refused ?? {})) {
        const key = `${kind} ${reason}`;
        refused[key] = (refused[key] ?? 0) + 1;
      }
    }
    return {
      looked: looked.length,
      natively: counts.natively,
      runs: runs.count - runsBefore,
      postponed: looked.filter((each) => each.looked === null && each.state?.incomplete !== true).length,
      seconds: (clock.now() - begun) / 1000,
      refused,
    };
  }

  async #look(
    queued: QueuedContract,
    states: ContractAccounts,
    known: KnownContract | null,
    counts: { natively: number },
  ): Promise<DetectionOutcome> {
    const { libraries, runs } = this.#modules;
    // What the database cannot tell of the queued ones themselves fails the batch; of others, the contract.
    const state = await states.get(addressOfBytes(queued.address));
    // What is not known as a whole yet is queued when it is.
    if (state === null || state.incomplete) return { queued, state, looked: null };
    const onNative = () => void counts.natively++;
    const view = new IndexedContractView(state, { states, runs, libraries, onNative });
    try {
      return { queued, state, looked: await detectContract(state, view, known, queued.attempts, this.#modules) };
    } catch (error) {
      // Says nothing of the contract: all of them are looked at again.
      if (isTernError(error) && INDEX_ERRORS.test(error.code)) throw error;
      this.#modules.onPostponed(error);
      return { queued, state, looked: null };
    }
  }

  async #write(
    client: pg.ClientBase,
    all: readonly DetectionOutcome[],
    states: ContractAccounts,
    known: ReadonlyMap<string, KnownContract>,
  ): Promise<void> {
    const { keepsForeign, unixTime } = this.#modules;
    const done = all.filter(({ looked, state }) => looked !== null || state === null || state.incomplete);
    const postponed = all.filter((each) => !done.includes(each));
    const told = done.flatMap(({ looked }) => {
      const isKnown = looked !== null && known.has(looked.found.address.toRaw());
      const isTelling =
        looked !== null && (looked.found.rows.length > 0 || Object.keys(looked.found.refused).length > 0);
      return looked !== null && (isKnown || isTelling) ? [looked] : [];
    });
    const foreign = keepsForeign ? states.foreign.map(unindexedAccountRow).filter((row) => row !== null) : [];
    const changed = told.filter(({ found }) => isChange(found, known.get(found.address.toRaw()) ?? null));
    // Batches change accounts and the queue under this lock, and find there what is confirmed.
    await lockTraces(client);
    await addImportedAccounts(client, foreign, WALLET_CODE_HASHES);
    for (const { code_hash, methods } of states.newMethods) await setCodeMethods(client, code_hash, methods);
    if (states.newMethods.length > 0) await recordContractChange(client, null);
    if (told.length > 0) {
      await writeContracts(
        client,
        told.map(({ found }) => found),
      );
      const { wallets, items } = newlyVerified(
        told.map(({ found }) => found),
        known,
      );
      await confirmEvents(client, wallets, items);
      await writeReferences(
        client,
        told.map(({ found, named }) => ({ address: addressBytes(found.address), referenced: named })),
      );
      if (changed.length > 0)
        await recordChangedContracts(
          client,
          changed.map(({ found }) => addressBytes(found.address)),
        );
    }
    const moved = done.filter(
      ({ queued, looked, state }) => looked !== null && !queued.again && mayAnswerOtherwise(state),
    );
    await queueRefusedReferrers(
      client,
      moved.map(({ queued }) => queued.address),
      unixTime(),
    );
    await removeQueued(
      client,
      done.map(({ queued, state }) => ({
        address: queued.address,
        last_trans_lt: maxOf(queued.last_trans_lt, state?.last_trans_lt ?? 0n),
      })),
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

/** What known code says of others does not depend on what changes in its data from day to day. */
function mayAnswerOtherwise(state: ContractAccount | null): boolean {
  return state?.running != null && nativeCodeOf(state.running.code.cell) === null;
}

function addressKey(address: Uint8Array): string {
  return addressOfBytes(address).toRaw();
}

function maxOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
