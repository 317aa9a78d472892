import type pg from 'pg';
import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import { FileSource } from '#drivers/state-files/byte-source.js';
import type { Database } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { addressBytes } from '#drivers/store/keys.js';
import {
  addAccounts,
  createStagingTables,
  deleteAbsentAccounts,
  mergeAccounts,
  setCodeMethods,
} from '#drivers/store/write/accounts.js';
import {
  type ContractReferences,
  recordChangedContracts,
  requeueContracts,
  writeReferences,
} from '#drivers/store/write/contract-queue.js';
import { writeContracts } from '#drivers/store/write/contracts.js';
import { accountsBetween, moveStateImport, type StateImportRow } from '#drivers/store/write/state-imports.js';
import { confirmEvents } from '#drivers/store/write/token-events.js';
import { keepTraces } from '#drivers/store/write/traces.js';
import { copyTables } from '#drivers/store/write/write-batch.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import {
  type DetectionResult,
  isChange,
  type KnownContract,
  newlyVerified,
  readKnownContracts,
} from '#services/indexer/contracts/detect-contract.js';
import type { ImportBatch, ImportBatchBuilder } from '#services/indexer/import/import-batch.js';
import { type AccountBatch, AccountBatches, type AccountRange } from '#services/indexer/import/state-accounts.js';

export interface RangeImporterModules {
  readonly database: Database;
  readonly builder: ImportBatchBuilder;
  /** Called after each batch. @param position id of its last account */
  readonly onWritten: (accounts: number, position: Uint8Array) => void;
}

/** How often a batch is written until it does not conflict with one of another thread. */
const MOST_ATTEMPTS = 5;

/** Writes the accounts of ranges of ids, a batch at a time: each in one database transaction, with the position. */
export class RangeImporter {
  readonly #modules: RangeImporterModules;
  /** Connections on which the staging tables exist. */
  readonly #prepared = new WeakSet<pg.PoolClient>();

  constructor(modules: RangeImporterModules) {
    this.#modules = modules;
  }

  /**
   * @param from the progress of the range
   * @returns the bytes read from the file
   * @throws state-files/changed, state-files/damaged, store/*
   */
  async run(range: AccountRange, from: StateImportRow): Promise<number> {
    const { builder, database, onWritten } = this.#modules;
    const batches = new AccountBatches(range, from.position.length === 0 ? null : from.position);
    let row = from;
    for (let read = batches.next(); read !== null; read = batches.next()) {
      const known = await this.#knownContracts(read);
      const batch = await builder.build(read, known);
      if (range.file.file.source instanceof FileSource) range.file.file.source.requireUnchanged();
      const moved = { position: batch.position, accounts: row.accounts + BigInt(batch.accounts), finished: false };
      for (let attempt = 1; ; attempt++) {
        try {
          await this.#write(row, moved, batch, known);
          break;
        } catch (error) {
          // Two threads that write the same code, or accounts with it, may wait for each other.
          if (attempt === MOST_ATTEMPTS || !isTernError(error, storeErrors.conflict.code)) throw error;
        }
      }
      batch.onCommitted();
      row = { ...row, ...moved };
      onWritten(batch.accounts, batch.position);
    }
    const { position, accounts } = row;
    await database.transaction((client) => moveStateImport(client, row, { position, accounts, finished: true }));
    return batches.bytesRead;
  }

  /** Contracts that the index knows already, of accounts with code. */
  async #knownContracts({ accounts, interval }: AccountBatch): Promise<ReadonlyMap<string, KnownContract>> {
    return this.#modules.database.withWriter(async (client) => {
      const known = await accountsBetween(client, interval);
      const addresses = accounts
        .filter(({ found }) => found.code !== null)
        .map(({ address }) => ({ address: addressBytes(address) }))
        .filter(({ address }) => known.has(toHex(address)));
      return addresses.length === 0 ? new Map() : readKnownContracts(client, addresses);
    });
  }

  async #write(
    row: StateImportRow,
    moved: Pick<StateImportRow, 'position' | 'accounts' | 'finished'>,
    batch: ImportBatch,
    known: ReadonlyMap<string, KnownContract>,
  ): Promise<void> {
    let used: pg.PoolClient | null = null;
    await this.#modules.database.transaction(async (client) => {
      used = client;
      if (!this.#prepared.has(client)) await createStagingTables(client);
      // After a power cut the last batches and their position are lost together.
      await client.query('SET LOCAL synchronous_commit = off');
      await copyTables(client, batch.tables);
      // Batches of blocks change accounts and the queue under this lock; other threads import other accounts.
      await keepTraces(client);
      await moveStateImport(client, row, moved);
      const { mc_seqno, gen_utime } = batch;
      const before = await accountsBetween(client, batch.interval);
      if (before.size === 0) await addAccounts(client, WALLET_CODE_HASHES, batch.plainCodes);
      else {
        // Newer states that these complete are detected from the queue.
        await mergeAccounts(client, WALLET_CODE_HASHES, batch.plainCodes);
        await deleteAbsentAccounts(client, { ...batch.interval, mc_seqno, gen_utime }, WALLET_CODE_HASHES);
      }
      for (const { code_hash, methods } of batch.newMethods) await setCodeMethods(client, code_hash, methods);
      if (batch.newMethods.length > 0) await recordContractChange(client, null);
      await writeDetected(client, batch, known, before);
      if (batch.toQueue.length > 0) await requeueContracts(client, batch.toQueue, 0);
    });
    if (used !== null) this.#prepared.add(used);
  }
}

function referencesOf({ found, referenced }: DetectionResult): ContractReferences {
  return { address: addressBytes(found.address), referenced };
}

/**
 * Writes what was found of contracts, except those of which the index has a newer state.
 *
 * @param before accounts that were known before the batch, as {@link accountsBetween} returns them
 */
async function writeDetected(
  client: pg.ClientBase,
  { detected }: ImportBatch,
  known: ReadonlyMap<string, KnownContract>,
  before: ReadonlyMap<string, bigint>,
): Promise<void> {
  const results = detected.filter(
    ({ found }) => found.rows.length > 0 || Object.keys(found.refused).length > 0 || known.has(found.address.toRaw()),
  );
  if (results.length === 0) return;
  const ltBefore = ({ found }: DetectionResult) => before.get(toHex(addressBytes(found.address)));
  const current =
    before.size === 0 ? results : results.filter((each) => (ltBefore(each) ?? 0n) <= each.found.last_trans_lt);
  if (current.length === 0) return;
  const findings = current.map(({ found }) => found);
  const maybeKnown = before.size === 0 ? [] : current.filter((each) => ltBefore(each) !== undefined);
  await writeContracts(
    client,
    findings,
    maybeKnown.map(({ found }) => found),
  );
  const { wallets, items } = newlyVerified(findings, known);
  const changedEvents = await confirmEvents(client, wallets, items);
  if (changedEvents.owners.length > 0) await recordContractChange(client, [], changedEvents);
  await writeReferences(client, current.map(referencesOf), maybeKnown.map(referencesOf));
  // What refers to a contract that was unknown was verified by the same state, or by a newer one.
  const changed = findings.filter((found) => {
    const previous = known.get(found.address.toRaw());
    return previous !== undefined && isChange(found, previous);
  });
  if (changed.length > 0) {
    await recordChangedContracts(
      client,
      changed.map(({ address }) => addressBytes(address)),
    );
  }
}
