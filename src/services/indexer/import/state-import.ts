import type pg from 'pg';
import { DNS_ROOTS, type DnsRoot } from '#domain/contracts/dns-domain.js';
import { CandidateInterfaces, contractInterfaces } from '#domain/contracts/interface-registry.js';
import { FileSource } from '#drivers/state-files/byte-source.js';
import {
  assembleStates,
  masterchainOf,
  type ProvenStateHash,
  type RecognizedFile,
  recognizeFile,
  requireAllShards,
} from '#drivers/state-files/state-set.js';
import { verifyFiles } from '#drivers/state-files/verify-files.js';
import type { Database } from '#drivers/store/database.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { addressBytes } from '#drivers/store/keys.js';
import { createStagingTables, mergeAccounts, setCodeMethods } from '#drivers/store/write/accounts.js';
import { recordChangedContracts, requeueContracts, writeReferences } from '#drivers/store/write/contract-queue.js';
import { writeContracts } from '#drivers/store/write/contracts.js';
import {
  beginStateImport,
  moveStateImport,
  newerAccounts,
  type StateImportRow,
} from '#drivers/store/write/state-imports.js';
import { confirmEvents } from '#drivers/store/write/token-events.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { copyTables } from '#drivers/store/write/write-batch.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { ContractCodes, PublishedLibraryCache } from '#services/indexer/contracts/contract-accounts.js';
import { VerifiedDetectionChain } from '#services/indexer/contracts/contract-detection.js';
import {
  isChange,
  type KnownContract,
  newlyVerified,
  readKnownContracts,
} from '#services/indexer/contracts/detect-contract.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { type ImportBatch, ImportBatchBuilder } from '#services/indexer/import/import-batch.js';
import {
  AccountBatches,
  type AccountFile,
  accountFiles,
  type FoundAccount,
  StateLookup,
} from '#services/indexer/import/state-accounts.js';

export interface StateImportOptions {
  /** The state files, in any order. */
  readonly files: readonly string[];
  /** Folder for scratch files. */
  readonly folder: string;
  /** Files verified at the same time. */
  readonly threads: number;
  /** Memory for verification, in bytes. */
  readonly verifyBytes: number;
  /** Zerostate of the masterchain. */
  readonly zerostate: BlockId;
  readonly dnsRoots: readonly DnsRoot[];
}

export interface StateImportModules {
  readonly database: Database;
  readonly chain: ChainReads;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How far an import is. */
export interface StateImportProgress {
  readonly phase: 'opening' | 'verifying' | 'importing' | 'done';
  readonly mc_seqno: number | null;
  /** Share of the bytes that are verified, 0 to 1. */
  readonly verified: number;
  /** Files whose accounts are all written, and files with accounts. */
  readonly files: number;
  readonly allFiles: number;
  readonly accounts: number;
  /** Accounts written per second by this process. */
  readonly accountsPerSecond: number;
  /** Share of the accounts of the current file that are written, by their ids. */
  readonly share: number;
}

/** The masterchain block after which a state was imported, and what was read for it. */
export interface StateImportReport {
  readonly block: BlockId;
  readonly accounts: number;
  /** Of all files. */
  readonly bytes: number;
  /** Read from the files after their verification. */
  readonly bytesRead: number;
}

/**
 * Imports the persistent states of all shards after a masterchain block: every byte is checked against the state hashes that the block
 * proves, then each account is written unless a newer state of it is known. Interrupted, it continues where it was.
 */
export class StateImport {
  readonly #options: StateImportOptions;
  readonly #modules: StateImportModules;
  #progress: StateImportProgress = {
    ...{ phase: 'opening', mc_seqno: null, verified: 0, files: 0, allFiles: 0 },
    ...{ accounts: 0, accountsPerSecond: 0, share: 0 },
  };

  constructor(options: StateImportOptions, modules: StateImportModules) {
    this.#options = options;
    this.#modules = modules;
  }

  get progress(): StateImportProgress {
    return this.#progress;
  }

  /**
   * @throws state-files/* with file and offset: nothing was written, or only accounts of verified files; chain/*, store/*,
   *   indexer/stopped
   */
  async run(signal: AbortSignal): Promise<StateImportReport> {
    const opened: RecognizedFile[] = [];
    try {
      for (const file of this.#options.files) opened.push(recognizeFile(file));
      const proven = await this.#provenHashes(masterchainOf(opened).ident.seqno, opened, signal);
      const block = proven[0]!.block;
      this.#progress = { ...this.#progress, phase: 'verifying', mc_seqno: block.seqno };
      const { threads, verifyBytes: hashBytes, folder } = this.#options;
      const onProgress = (verified: number): void => {
        this.#progress = { ...this.#progress, verified };
      };
      const verified = await verifyFiles(opened, { threads, hashBytes, folder, onProgress, signal });
      requireRunning(signal);
      const files = accountFiles(assembleStates(verified, proven));
      const bytesRead = await this.#import(block, files, signal);
      this.#progress = { ...this.#progress, phase: 'done' };
      const bytes = opened.reduce((sum, { file }) => sum + file.source.size, 0);
      return { block, accounts: this.#progress.accounts, bytes, bytesRead };
    } finally {
      for (const { file } of opened) if (file.source instanceof FileSource) file.source.close();
    }
  }

  /** The state hashes of a masterchain block and of the newest block of each shard. */
  async #provenHashes(
    seqno: number,
    files: readonly RecognizedFile[],
    signal: AbortSignal,
  ): Promise<readonly ProvenStateHash[]> {
    const { chain } = this.#modules;
    const masterchain = await chain.blockId(seqno, { signal });
    const { shards } = await chain.shards({ at: masterchain, signal });
    const blocks = [masterchain, ...shards.map(({ block }) => block)];
    requireAllShards(files, blocks);
    const hashes: ProvenStateHash[] = [];
    for (const block of blocks) {
      // The state of a workchain without blocks is its zerostate.
      const state_hash =
        block.seqno === 0 ? block.root_hash : (await chain.header({ at: block, signal })).state_hash.slice();
      hashes.push({ block, state_hash });
    }
    return hashes;
  }

  /** @returns the bytes read from the files */
  async #import(block: BlockId, files: readonly AccountFile[], signal: AbortSignal): Promise<number> {
    const { database, chain, clock, logger } = this.#modules;
    const { zerostate, dnsRoots } = this.#options;
    const rows = await database.transaction((client) =>
      beginStateImport(
        client,
        files.map((file) => importRow(block, file)),
      ),
    );
    const lookup = new StateLookup(files);
    const libraries = new PublishedLibraryCache(
      new VerifiedDetectionChain({ zerostate, knowsAll: () => true, signal }, chain),
      clock,
    );
    const kinds = new CandidateInterfaces(
      contractInterfaces([...DNS_ROOTS, ...dnsRoots.map(({ collection, zone }) => ({ collection, zone }))]),
    );
    const kindsOf = rememberedKinds(kinds);
    const codes = new ContractCodes(libraries);
    const builder = new ImportBatchBuilder(block.seqno, { lookup, codes, libraries, kindsOf, logger });
    const begun = clock.now();
    const before = rows.reduce((sum, { accounts }) => sum + Number(accounts), 0);
    let accounts = before;
    let bytesRead = 0;
    for (const [i, file] of files.entries()) {
      const wanted = importRow(block, file);
      const row = rows.find((each) => each.workchain === wanted.workchain && each.shard === wanted.shard)!;
      const onWritten = (count: number, position: Uint8Array): void => {
        accounts += count;
        const accountsPerSecond = (accounts - before) / Math.max((clock.now() - begun) / 1000, 0.001);
        const share = shareOf(file.shard, position);
        const counts = { files: i, allFiles: files.length, accounts, accountsPerSecond, share };
        this.#progress = { ...this.#progress, ...counts, phase: 'importing' };
      };
      if (!row.finished) bytesRead += await this.#importFile(file, row, builder, onWritten, signal);
    }
    return bytesRead + lookup.bytesRead;
  }

  async #importFile(
    file: AccountFile,
    from: StateImportRow,
    builder: ImportBatchBuilder,
    onWritten: (accounts: number, position: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<number> {
    const batches = new AccountBatches(file, from.position.length === 0 ? null : from.position);
    let row = from;
    let writing: Promise<StateImportRow> = Promise.resolve(row);
    const write = async (batch: ImportBatch, known: ReadonlyMap<string, KnownContract>): Promise<StateImportRow> => {
      const moved = { position: batch.position, accounts: row.accounts + BigInt(batch.accounts), finished: false };
      await this.#write(row, moved, batch, known);
      batch.onCommitted();
      row = { ...row, ...moved };
      onWritten(batch.accounts, batch.position);
      return row;
    };
    try {
      for (let accounts = batches.next(); accounts.length > 0; accounts = batches.next()) {
        requireRunning(signal);
        const known = await this.#knownContracts(accounts);
        const batch = await builder.build(accounts, known);
        (file.file.source as FileSource).requireUnchanged();
        await writing;
        writing = write(batch, known);
        // Awaited later: the next batch is made while this one is written.
        writing.catch(() => {});
      }
      await writing;
    } catch (error) {
      await writing.catch(() => {});
      throw error;
    }
    const { position, accounts } = row;
    await this.#modules.database.transaction((client) =>
      moveStateImport(client, row, { position, accounts, finished: true }),
    );
    return batches.bytesRead;
  }

  /** Contracts that the index knows already, of accounts with code. */
  async #knownContracts(accounts: readonly FoundAccount[]): Promise<ReadonlyMap<string, KnownContract>> {
    const withCode = accounts.filter(({ found }) => found.code !== null);
    if (withCode.length === 0) return new Map();
    const addresses = withCode.map(({ address }) => ({ address: addressBytes(address) }));
    return this.#modules.database.withWriter((client) => readKnownContracts(client, addresses));
  }

  #write(
    row: StateImportRow,
    moved: Pick<StateImportRow, 'position' | 'accounts' | 'finished'>,
    batch: ImportBatch,
    known: ReadonlyMap<string, KnownContract>,
  ): Promise<void> {
    const { database } = this.#modules;
    return database.transaction(async (client) => {
      await createStagingTables(client);
      // Batches of blocks change accounts and the queue under this lock.
      await lockTraces(client);
      await moveStateImport(client, row, moved);
      await copyTables(client, batch.tables);
      await mergeAccounts(client, batch.plainCodes);
      for (const { code_hash, methods } of batch.newMethods) await setCodeMethods(client, code_hash, methods);
      if (batch.newMethods.length > 0) await recordContractChange(client, null);
      await writeDetected(client, batch, known);
      if (batch.toQueue.length > 0) await requeueContracts(client, batch.toQueue, 0);
    });
  }
}

/** Writes what was found of contracts, except those of which the index has a newer state. */
async function writeDetected(
  client: pg.ClientBase,
  { detected }: ImportBatch,
  known: ReadonlyMap<string, KnownContract>,
): Promise<void> {
  const results = detected.filter(
    ({ found }) => found.rows.length > 0 || Object.keys(found.refused).length > 0 || known.has(found.address.toRaw()),
  );
  if (results.length === 0) return;
  const states = results.map(({ found }) => ({
    address: addressBytes(found.address),
    last_trans_lt: found.last_trans_lt,
  }));
  const newer = await newerAccounts(client, states);
  const current = results.filter((_, i) => !newer.has(i));
  if (current.length === 0) return;
  const findings = current.map(({ found }) => found);
  await writeContracts(client, findings);
  const { wallets, items } = newlyVerified(findings, known);
  await confirmEvents(client, wallets, items);
  await writeReferences(
    client,
    current.map(({ found, referenced }) => ({ address: addressBytes(found.address), referenced })),
  );
  // What refers to a contract that was unknown was verified by the same state, or by a newer one.
  const changed = findings.filter((found) => {
    const before = known.get(found.address.toRaw());
    return before !== undefined && isChange(found, before);
  });
  if (changed.length > 0) {
    await recordChangedContracts(
      client,
      changed.map(({ address }) => addressBytes(address)),
    );
  }
}

function importRow({ seqno: mc_seqno }: BlockId, { workchain, shard, root_hash }: AccountFile) {
  return { mc_seqno, workchain, shard: BigInt.asIntN(64, shard), root_hash };
}

/** The interfaces that codes may have, each found once. */
function rememberedKinds(kinds: CandidateInterfaces): CandidateInterfaces['of'] {
  const known = new Map<string, ReturnType<CandidateInterfaces['of']>>();
  return (codeHash, methodIds) => {
    let found = known.get(codeHash);
    if (found === undefined) {
      found = kinds.of(codeHash, methodIds);
      if (known.size === MAX_KINDS) known.clear();
      known.set(codeHash, found);
    }
    return found;
  };
}

const MAX_KINDS = 100_000;

/** The share of the ids of a shard up to one of them. */
function shareOf(shard: bigint, position: Uint8Array): number {
  const tag = shard & -shard;
  const first = shard ^ tag;
  const prefix = new DataView(position.buffer, position.byteOffset).getBigUint64(0);
  return Number(((prefix - first) * 10_000n) / (tag << 1n)) / 10_000;
}

/** @throws indexer/stopped */
function requireRunning(signal: AbortSignal): void {
  if (signal.aborted) throw indexerErrors.stopped({});
}
