import type pg from 'pg';
import { nativeCodeOf } from '#domain/contracts/kinds/contract-kinds.js';
import type { Database } from '#drivers/store/database.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { setCodeMethods } from '#drivers/store/write/code-methods.js';
import { nextQueued, postponeQueued, type QueuedContract, removeQueued } from '#drivers/store/write/contract-queue.js';
import { noteChanged, queueRefused, writeReferences } from '#drivers/store/write/contract-references.js';
import { writeContracts } from '#drivers/store/write/contract-rows.js';
import { addForeignAccounts } from '#drivers/store/write/foreign-accounts.js';
import { noteContractChange } from '#drivers/store/write/index-state.js';
import { lockTraces } from '#drivers/store/write/merge-traces.js';
import { confirmEvents } from '#drivers/store/write/token-events.js';
import type { Clock } from '#kernel/clock/clock.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { ChainQuestions, DetectSums } from '#services/indexer/contracts/chain-questions.js';
import {
  isChange,
  type KnownContract,
  newlyVerified,
  readKnownContracts,
} from '#services/indexer/contracts/contract-changes.js';
import type { ContractCodes } from '#services/indexer/contracts/contract-codes.js';
import type { ContractRuns } from '#services/indexer/contracts/contract-runs.js';
import type { ContractState } from '#services/indexer/contracts/contract-state.js';
import { ContractStates } from '#services/indexer/contracts/contract-states.js';
import { foreignRow } from '#services/indexer/contracts/foreign-row.js';
import { type Looked, type LookModules, lookAtContract } from '#services/indexer/contracts/look-at-contract.js';
import { PLAIN_CODES } from '#services/indexer/contracts/plain-codes.js';
import type { PublishedLibraries } from '#services/indexer/contracts/published-libraries.js';
import { StoredView } from '#services/indexer/contracts/stored-view.js';

export interface DetectorModules extends LookModules {
  readonly database: Database;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly unixTime: () => number;
  readonly chain: ChainQuestions;
  readonly codes: ContractCodes;
  readonly libraries: PublishedLibraries;
  readonly runs: ContractRuns;
  /** Whether accounts that are asked for are kept: all are indexed. */
  readonly keepsForeign: boolean;
}

/** Of the database, and of one that is being closed. */
const OWN_TROUBLE = /^store\/|^tvm\/(closed|not-started)$/;

/** So many are looked at together, and at most so many at the same moment. */
const BATCH = 256;

/** Pauses before a contract is looked at again that could not be asked, in seconds: doubled each time. */
const AGAIN = { first: 2, last: 3600 };

interface LookedContract {
  readonly queued: QueuedContract;
  readonly state: ContractState | null;
  /** Null: it could not be asked. */
  readonly looked: Looked | null;
}

/** Looks at accounts for what contracts they are, batch by batch. */
export class Detector {
  readonly #modules: DetectorModules;

  constructor(modules: DetectorModules) {
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
    const states = new ContractStates(this.#modules);
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
    states: ContractStates,
    known: KnownContract | null,
    counts: { natively: number },
  ): Promise<LookedContract> {
    const { libraries, runs } = this.#modules;
    // What the database cannot tell of the queued ones themselves fails the batch; of others, the contract.
    const state = await states.get(addressOfBytes(queued.address));
    // What is not known as a whole yet is queued when it is.
    if (state === null || state.incomplete) return { queued, state, looked: null };
    const onNative = () => void counts.natively++;
    const view = new StoredView(state, { states, runs, libraries, onNative });
    try {
      return { queued, state, looked: await lookAtContract(state, view, known, queued.attempts, this.#modules) };
    } catch (error) {
      // Says nothing of the contract: all of them are looked at again.
      if (isTernError(error) && OWN_TROUBLE.test(error.code)) throw error;
      this.#modules.onPostponed(error);
      return { queued, state, looked: null };
    }
  }

  async #write(
    client: pg.ClientBase,
    all: readonly LookedContract[],
    states: ContractStates,
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
    const foreign = keepsForeign ? states.foreign.map(foreignRow).filter((row) => row !== null) : [];
    const changed = told.filter(({ found }) => isChange(found, known.get(found.address.toRaw()) ?? null));
    // Batches change accounts and the queue under this lock, and find there what is confirmed.
    await lockTraces(client);
    await addForeignAccounts(client, foreign, PLAIN_CODES);
    for (const { code_hash, methods } of states.newMethods) await setCodeMethods(client, code_hash, methods);
    if (states.newMethods.length > 0) await noteContractChange(client);
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
        told.map(({ found, named }) => ({ address: addressBytes(found.address), named })),
      );
      if (changed.length > 0)
        await noteChanged(
          client,
          changed.map(({ found }) => addressBytes(found.address)),
        );
    }
    const moved = done.filter(
      ({ queued, looked, state }) => looked !== null && !queued.again && mayAnswerOtherwise(state),
    );
    await queueRefused(
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
        not_before: now + Math.min(AGAIN.first * 2 ** Math.min(queued.attempts, 20), AGAIN.last),
      })),
    );
  }
}

/** What known code says of others does not depend on what changes in its data from day to day. */
function mayAnswerOtherwise(state: ContractState | null): boolean {
  return state?.running != null && nativeCodeOf(state.running.code.cell) === null;
}

function addressKey(address: Uint8Array): string {
  return addressOfBytes(address).toRaw();
}

function maxOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
