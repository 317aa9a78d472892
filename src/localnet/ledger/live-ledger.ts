import { constants, copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseBoc, parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { verifyBlockFile } from '#formats/proofs/block-header.js';
import { type BlockId, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { signatureSetOf } from '#formats/proofs/block-proof.js';
import { type BlockQuery, blockOfShard } from '#formats/proofs/shard-block.js';
import { checkZerostate, keyBlockConfig, stateConfig } from '#formats/proofs/shard-state.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { type ValidatorConfig, validatorConfigOf } from '#formats/proofs/validators.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { type Logger, silentLogger } from '#kernel/logger.js';
import type { ChainState, ChainTip, NewBlockBundle, Zerostate } from '#localnet/ledger/block-bundle.js';
import { BlockFiles, LiveBlock } from '#localnet/ledger/block-files.js';
import { bundleEntries } from '#localnet/ledger/bundle-entries.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { GENESIS_FILE, type Genesis, readGenesis, writeGenesis, zerostateName } from '#localnet/ledger/genesis.js';
import { ensureFolder, listFolder, lockFolder, removeAll, writing } from '#localnet/ledger/ledger-files.js';
import {
  type ChainFolder,
  type ChainSnapshot,
  currentChain,
  deleteSnapshot,
  listSnapshots,
  removeOtherChains,
  removeSnapshotDrafts,
  replaceChain,
  requireFreeName,
  writeSnapshot,
} from '#localnet/ledger/snapshots.js';
import { Checkpoints, StateHistory } from '#localnet/ledger/state-history.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import { type ExportedStates, exportStates } from '#localnet/replay/state-export.js';

/** Storage options of a chain, and who is told of its troubles. */
export interface LiveLedgerOptions {
  /** Size of a pack after which a new one is started. */
  readonly packBytes: number;
  /** Size of blocks after which all states are written to a file; each bundle counts {@link BUNDLE_BYTES} more. */
  readonly checkpointBytes: number;
  /** Total size of the files with old states. */
  readonly statesBytes: number;
  readonly logger: Logger;
}

const DEFAULTS: LiveLedgerOptions = {
  packBytes: 64 * 2 ** 20,
  checkpointBytes: 8 * 2 ** 20,
  statesBytes: 2 ** 30,
  logger: silentLogger,
};

/** Cost of an empty bundle, as bytes of blocks that take equally long to apply. */
const BUNDLE_BYTES = 8 * 2 ** 10;

/**
 * A growing chain in a folder. Blocks are on disk before the head moves: a killed process loses at most the bundle that
 * it was writing.
 */
export class LiveLedger implements Ledger {
  readonly genesis: Genesis;
  readonly zerostates: readonly Zerostate[];
  readonly #folder: string;
  readonly #chain: ChainFolder;
  readonly #options: LiveLedgerOptions;
  readonly #unlock: () => void;
  readonly #files: BlockFiles;
  readonly #checkpoints: Checkpoints;
  readonly #states: StateHistory;
  readonly #listeners = new Set<() => void>();
  #validators: ValidatorConfig;
  #tip: ChainTip;
  #head: LiveBlock | null;
  /** Bytes of blocks since the last checkpoint. */
  #since = 0;
  /** The same when a checkpoint last failed; 0: none has since the last one. */
  #failedAt = 0;
  #closed = false;

  private constructor(folder: string, chain: ChainFolder, options: LiveLedgerOptions, unlock: () => void) {
    this.#folder = folder;
    this.#chain = chain;
    this.#options = options;
    this.#unlock = unlock;
    this.genesis = readGenesis(chain.path);
    this.zerostates = [this.genesis.masterchain, ...this.genesis.workchains];
    this.#files = BlockFiles.open(chain.path, options);
    try {
      this.#checkpoints = new Checkpoints(chain.path, options.statesBytes);
      this.#states = new StateHistory({
        files: this.#files,
        checkpoints: this.#checkpoints,
        zerostates: this.zerostates.map(({ id, state }) => ({ block: toHex(id.root_hash), state })),
        shardsOf: (state) => shardsOf(state).map(({ root_hash }) => toHex(root_hash)),
      });
      const { mcBlocks } = this.#files.lists;
      this.#head = mcBlocks === 0 ? null : new LiveBlock(this.#files.masterchainBlock(mcBlocks), this.#files);
      this.#tip = this.#tipAfter(this.#head?.id ?? this.zerostate);
      this.#validators = this.#validatorsAfter(this.#files.lists.keyBlockUpTo(mcBlocks));
      for (let at = this.#checkpoints.newest + 1; at <= mcBlocks; at++) this.#since += this.#costOf(at);
    } catch (error) {
      this.#files.close();
      throw error;
    }
  }

  /** Whether a folder has a chain. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
  static exists(folder: string): boolean {
    return currentChain(folder) !== null;
  }

  /**
   * Creates a chain in a folder that has none, or in the place of the one that it has: that one is removed when the new one
   * is complete.
   * @throws ledger/chain-exists, ledger/in-use, ledger/unwritable
   */
  static create(
    folder: string,
    genesis: Genesis,
    { replacesChain = false, ...options }: Partial<LiveLedgerOptions> & { readonly replacesChain?: boolean } = {},
  ): LiveLedger {
    return whileLocked(folder, (unlock) => {
      if (!replacesChain && currentChain(folder) !== null) throw ledgerErrors['chain-exists']({ folder });
      const chain = replaceChain(folder, (path) => writeGenesis(path, genesis));
      return openedAlone(new LiveLedger(folder, chain, { ...DEFAULTS, ...options }, unlock), folder);
    });
  }

  /**
   * Opens the chain in a folder. An incomplete bundle at the end is cut off; nothing else is repaired.
   * @throws ledger/no-chain, ledger/in-use, ledger/damaged, ledger/missing-file, ledger/other-version,
   * ledger/unreadable, ledger/unwritable
   */
  static open(folder: string, options: Partial<LiveLedgerOptions> = {}): LiveLedger {
    return whileLocked(folder, (unlock) => {
      const chain = currentChain(folder);
      if (chain === null) throw ledgerErrors['no-chain']({ folder });
      removeSnapshotDrafts(folder);
      return openedAlone(new LiveLedger(folder, chain, { ...DEFAULTS, ...options }, unlock), folder);
    });
  }

  /** Unique name of the chain: 16 hex digits. It changes after a reset, and when a snapshot is restored. */
  get incarnation(): string {
    return this.#chain.incarnation;
  }

  get zerostate(): BlockId {
    return this.genesis.masterchain.id;
  }

  get head(): LedgerBlock | null {
    return this.#head;
  }

  /** What the next bundle follows. */
  get tip(): ChainTip {
    return this.#tip;
  }

  /**
   * Appends the next bundle, and notifies the head listeners.
   * @throws ledger/wrong-round, ledger/unwritable: then the chain is unchanged; ledger/closed
   */
  append(bundle: NewBlockBundle): void {
    if (this.#closed) throw ledgerErrors.closed({ folder: this.#folder });
    const { entries, validators } = bundleEntries(bundle, {
      masterchain: this.#tip.masterchain.id,
      validators: this.#validators,
      state: (id) => this.#stateAfter(id),
    });
    const blocks = [...bundle.shards, bundle.masterchain];
    const added = new Map(blocks.map(({ id, state }) => [toHex(id.root_hash), state]));
    const tip = this.#tipOf(bundle.masterchain, added);
    const records = this.#files.append(entries);
    this.#states.add(
      blocks.map(({ id, prev, state }) => ({
        block: toHex(id.root_hash),
        prev: prev.map(({ root_hash }) => toHex(root_hash)),
        state,
      })),
    );
    this.#validators = validators;
    this.#tip = tip;
    this.#head = new LiveBlock(records.at(-1)!, this.#files);
    this.#since += this.#costOf(bundle.masterchain.id.seqno);
    for (const listener of [...this.#listeners]) listener();
    const enough = Math.max(this.#options.checkpointBytes, this.#checkpoints.newestBytes);
    if (this.#since - this.#failedAt >= enough) this.#tryCheckpoint();
  }

  block(id: BlockId): LedgerBlock | null {
    const record = id.seqno === 0 ? null : this.#files.get(id);
    return record === null ? null : new LiveBlock(record, this.#files);
  }

  lookup(query: BlockQuery): LedgerBlock | null {
    const record = this.#files.find(query);
    return record === null ? null : new LiveBlock(record, this.#files);
  }

  hasWorkchain(workchain: number): boolean {
    return this.#files.lists.hasWorkchain(workchain);
  }

  state(block: LedgerBlock): Cell {
    return this.#states.state((block as LiveBlock).record);
  }

  keyBlockUpTo(seqno: number): BlockId {
    const found = this.#files.lists.keyBlockUpTo(seqno);
    return found === 0 ? this.zerostate : this.#files.masterchainBlock(found).id;
  }

  keyBlockFrom(seqno: number): BlockId | null {
    const found = this.#files.lists.keyBlockFrom(seqno);
    return found === null ? null : this.#files.masterchainBlock(found).id;
  }

  zerostateFile(id: BlockId): Uint8Array | null {
    return this.zerostates.find((zerostate) => sameBlock(zerostate.id, id))?.bytes ?? null;
  }

  signatures(block: LedgerBlock): SignatureSet | null {
    const { signatures } = decodeCell(BlockProof, parseBocRoot(this.#files.proof((block as LiveBlock).record)));
    return signatures === null ? null : signatureSetOf(signatures.value);
  }

  onHead(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Saves the current chain under a name.
   * @throws ledger/bad-snapshot-name, ledger/snapshot-exists, ledger/unwritable, ledger/closed
   */
  saveSnapshot(name: string): ChainSnapshot {
    if (this.#closed) throw ledgerErrors.closed({ folder: this.#folder });
    requireFreeName(this.#folder, name);
    if (this.#since > 0) this.#checkpoint();
    this.#files.seal();
    const saved_at = Math.floor(Date.now() / 1000);
    const snapshot: ChainSnapshot = { name, head: this.#tip.masterchain.id, saved_at };
    const beginning = [GENESIS_FILE, ...this.zerostates.map(({ id }) => zerostateName(id))];
    writeSnapshot(this.#folder, snapshot, {
      files: [...beginning.map((file) => join(this.#chain.path, file)), ...this.#files.paths],
      states: this.#checkpoints.paths,
    });
    return snapshot;
  }

  /** All snapshots, sorted by name. */
  snapshots(): readonly ChainSnapshot[] {
    return listSnapshots(this.#folder);
  }

  /** @throws ledger/no-snapshot, ledger/bad-snapshot-name, ledger/unwritable */
  deleteSnapshot(name: string): void {
    deleteSnapshot(this.#folder, name);
  }

  /**
   * Copies zerostates and packs into a new folder, for `tern replay` and other tools; without keys.
   * @throws ledger/export-folder, files/no-folder, ledger/unwritable
   */
  exportTo(folder: string): { readonly blocks: number } {
    ensureFolder(folder);
    if (listFolder(folder).length > 0) throw ledgerErrors['export-folder']({ folder });
    const zerostates = this.zerostates.map(({ id }) => join(this.#chain.path, zerostateName(id)));
    const packs = this.#files.paths.filter((file) => file.endsWith('.pack'));
    const made: string[] = [];
    try {
      for (const file of [...zerostates, ...packs]) {
        const to = join(folder, basename(file));
        made.push(to);
        writing(to, () => copyFileSync(file, to, constants.COPYFILE_FICLONE));
      }
    } catch (error) {
      // Half a chain would look like a damaged one, and would fill a disk that is full.
      for (const file of made) removeAll(file);
      throw error;
    }
    return { blocks: this.#files.lists.count };
  }

  /** Writes the states of all shards at the head into a new folder, as `exportStates` does. @throws replay/*, ledger/closed */
  exportStatesTo(folder: string, splitDepth: number): ExportedStates {
    if (this.#closed) throw ledgerErrors.closed({ folder: this.#folder });
    return exportStates(this, this.#tip.masterchain.id.seqno, folder, splitDepth);
  }

  /** Writes a checkpoint, so that the chain opens quickly, and unlocks the folder. @throws ledger/unwritable */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      if (this.#since > 0) this.#checkpoint();
    } finally {
      this.#files.close();
      this.#unlock();
    }
  }

  /** The chain goes on without a checkpoint; the next one is tried after as many blocks as usual. */
  #tryCheckpoint(): void {
    try {
      this.#checkpoint();
    } catch (error) {
      this.#failedAt = this.#since;
      const problem = error instanceof Error ? error.message : String(error);
      this.#options.logger.warn('the states of the local network could not be saved; this is retried', { problem });
    }
  }

  /**
   * Writes all states to a file and continues with the states parsed from it: cells in the table of one bag of cells
   * take a third of the memory of separately built cells.
   */
  #checkpoint(): void {
    const { masterchain, shards } = this.#tip;
    const all = [masterchain, ...shards];
    const states = all.map(({ state }) => state);
    const { roots } = parseBoc(this.#checkpoints.write(masterchain.id.seqno, states));
    this.#since = 0;
    this.#failedAt = 0;
    if (this.#closed || roots.some((root, i) => !bytesEqual(root.hash(), states[i]!.hash()))) return;
    const read = all.map(({ id }, i): ChainState => ({ id, state: roots[i]! }));
    this.#states.replace(read.map(({ id, state }) => ({ block: toHex(id.root_hash), state })));
    this.#tip = { masterchain: read[0]!, shards: read.slice(1) };
  }

  #costOf(mc_seqno: number): number {
    let cost = BUNDLE_BYTES;
    for (const { block } of this.#files.bundle(mc_seqno)) cost += block.length;
    return cost;
  }

  #tipAfter(id: BlockId): ChainTip {
    return this.#tipOf({ id, state: this.#stateAfter(id)! }, new Map());
  }

  /** @throws ledger/wrong-round when it commits an unknown block */
  #tipOf({ id, state }: ChainState, added: ReadonlyMap<string, Cell>): ChainTip {
    const shards = shardsOf(state).map((shard): ChainState => {
      const found = added.get(toHex(shard.root_hash)) ?? this.#stateAfter(shard);
      if (found !== null) return { id: shard, state: found };
      const problem = `it commits block ${printPosition(shard)}, which is not there`;
      throw ledgerErrors['wrong-round']({ block: printPosition(id), problem });
    });
    return { masterchain: { id, state }, shards };
  }

  /** The state after one of the newest blocks, or a zerostate. */
  #stateAfter(id: BlockId): Cell | null {
    if (id.seqno === 0) return this.zerostates.find((zerostate) => sameBlock(zerostate.id, id))?.state ?? null;
    return this.#states.newest(toHex(id.root_hash));
  }

  #validatorsAfter(keyBlock: number): ValidatorConfig {
    if (keyBlock === 0) {
      const { state, id } = this.genesis.masterchain;
      return validatorConfigOf(stateConfig(checkZerostate(state, id)).config);
    }
    const record = this.#files.masterchainBlock(keyBlock);
    return validatorConfigOf(keyBlockConfig(verifyBlockFile(this.#files.bytes(record), record.id)).config);
  }
}

/** The newest blocks of all shards, as listed in a masterchain state. */
function shardsOf(masterchainState: Cell): BlockId[] {
  const { custom } = decodeCell(ShardStateUnsplit, masterchainState);
  return [...shardDescrs(custom!.value.shard_hashes)].map(blockOfShard);
}

/** A ledger that has been opened; chains that it took the place of are removed. */
function openedAlone(ledger: LiveLedger, folder: string): LiveLedger {
  removeOtherChains(folder, ledger.incarnation);
  return ledger;
}

/** Locks the folder, and unlocks it when `use` fails. */
function whileLocked<T>(folder: string, use: (unlock: () => void) => T): T {
  const unlock = lockFolder(folder);
  try {
    return use(unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}
