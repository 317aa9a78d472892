import { addressBytes } from '#drivers/store/keys.js';
import { endClassificationWaits } from '#drivers/store/write/actions.js';
import {
  nextPastContracts,
  postponePastContracts,
  type ReadPastContract,
  type WantedPastContract,
  writePastContracts,
} from '#drivers/store/write/past-contracts.js';
import { isTernError } from '#kernel/tern-error.js';
import { ContractAccounts, unindexedContractAccount } from '#services/indexer/contracts/contract-accounts.js';
import { detectContract, IndexedContractView } from '#services/indexer/contracts/detect-contract.js';
import type { DetectSums } from '#services/indexer/contracts/detect-protocol.js';
import { type ContractDetectorModules, INDEX_ERRORS } from '#services/indexer/contracts/detector.js';

/** States read at a time. */
const BATCH = 16;

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
    const wanted = await database.withWriter((client) => nextPastContracts(client, unixTime(), BATCH));
    if (wanted.length === 0) return null;
    const states = new ContractAccounts(this.#modules);
    const counts = { natively: 0 };
    const read = await Promise.all(wanted.map((each) => this.#read(each, states, counts)));
    const done = read.filter((each) => each !== null);
    const postponed = wanted.filter((_, i) => read[i] === null);
    await database.transaction(async (client) => {
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
