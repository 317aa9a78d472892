import { contractDataErrors } from '#domain/contracts/errors.js';
import type { Database } from '#drivers/store/database.js';
import { firstIdOf } from '#drivers/store/keys.js';
import type { TvmBlockId, TvmPrevBlocksInfo } from '#drivers/tvm/request-fields.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStack } from '#formats/tlb/vm-stack.js';
import { bytesEqual } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import type { ContractAccount, PublishedLibraryCache } from '#services/indexer/contracts/contract-accounts.js';
import type { DetectionChain } from '#services/indexer/contracts/detect-protocol.js';
import { indexerErrors } from '#services/indexer/errors.js';

/** Configuration and previous blocks (c7) of a get-method run. */
export interface RunConfig {
  /** Root of `Hashmap 32 ^Cell` */
  readonly config: Cell;
  readonly prevBlocks: () => Promise<TvmPrevBlocksInfo | null>;
}

export interface ContractMethodRunnerModules {
  /** Started with the first run. */
  readonly tvm: () => Promise<Pick<TvmPool, 'runGetMethod'>>;
  readonly libraries: PublishedLibraryCache;
  /** The configuration in force at the state of a contract. */
  readonly configAt: (state: ContractAccount) => Promise<RunConfig>;
}

/** A get-method run. */
export interface ContractMethodRun {
  readonly state: ContractAccount;
  readonly method: string;
  readonly stack: VmStack;
  /** Unix seconds. */
  readonly now: number;
  /** Whether the result must be the same at another time and with another random seed. */
  readonly steady: boolean;
}

/** Maximum size of a result as a BoC: more than any token needs, and results are stored. */
const MAX_RESULT_BYTES = 64 * 1024;

const OUT_OF_GAS = -14;
const NO_CODE = -13;
/** The second run of a steady method: a bit more than a day later, with a non-zero random seed. */
const LATER_SECONDS = 100_000;
const OTHER_RAND_SEED = new Uint8Array(32).fill(0xa5);

/** Runs the get-methods of contract detection in the TVM. */
export class ContractMethodRunner {
  readonly #modules: ContractMethodRunnerModules;
  #count = 0;

  constructor(modules: ContractMethodRunnerModules) {
    this.#modules = modules;
  }

  /** Number of runs. */
  get count(): number {
    return this.#count;
  }

  /**
   * Runs a get-method and returns its stack.
   *
   * @throws contract-data/method-failed; indexer/contract-out-of-gas, indexer/contract-too-large, indexer/contract-unsteady, and
   *   tvm/* for failures of the TVM worker
   */
  async run(run: ContractMethodRun): Promise<VmStack> {
    const first = await this.#once(run, run.now, null);
    if (!run.steady) return first.stack;
    const second = await this.#once(run, run.now + LATER_SECONDS, OTHER_RAND_SEED);
    if (bytesEqual(first.bytes, second.bytes)) return first.stack;
    throw indexerErrors['contract-unsteady']({ address: run.state.address.toRaw(), method: run.method });
  }

  async #once({ state, method, stack }: ContractMethodRun, now: number, rand_seed: Uint8Array | null) {
    const { tvm, libraries, configAt } = this.#modules;
    const { running, balance, extra_currencies } = state;
    const address = state.address.toRaw();
    if (running === null) throw contractDataErrors['method-failed']({ address, method, exit_code: NO_CODE });
    const { config, prevBlocks } = await configAt(state);
    const pool = await tvm();
    this.#count++;
    const request = {
      ...{ code: running.code.cell, data: running.data, method, stack, now, balance, extra_currencies, config },
      address: state.address,
      prev_blocks_info: prevBlocks,
      ...(rand_seed === null ? {} : { rand_seed }),
      resolveLibrary: (hashes: readonly Uint8Array[]) => Promise.all(hashes.map((hash) => libraries.find(hash))),
    };
    // Codes take turns: many accounts with an endless code do not hold up others.
    const result = await pool.runGetMethod(request, { client: running.code.hash });
    const { exit_code } = result;
    if (exit_code === OUT_OF_GAS) throw indexerErrors['contract-out-of-gas']({ address, method });
    if (exit_code !== 0 && exit_code !== 1) {
      throw contractDataErrors['method-failed']({ address, method, exit_code });
    }
    return { stack: result.stack, bytes: boundedBytes(result.stack, address, method) };
  }
}

function boundedBytes(stack: VmStack, address: string, method: string): Uint8Array {
  const bytes = serializeBoc(encodeCell(VmStack, stack));
  if (bytes.length <= MAX_RESULT_BYTES) return bytes;
  throw indexerErrors['contract-too-large']({ address, method, bytes: bytes.length, most: MAX_RESULT_BYTES });
}

const MAX_CONFIGS = 16;
const MAX_SEQNOS = 10_000;
/** The newest configuration is read again after this. */
const REFRESH_CONFIG_MS = 60_000;
const LAST_BLOCKS = 16;
const HUNDRED = 100;

interface BlockRow {
  readonly id: bigint;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

/** Configurations in force at masterchain blocks, and the previous blocks info (c7) as of these blocks. */
export class ConfigsAtBlock {
  readonly #database: Database;
  readonly #chain: Pick<DetectionChain, 'config'>;
  readonly #clock: Clock;
  /** By key block seqno; the newest under null. */
  readonly #configs = new Map<number | null, { readonly root: Promise<Cell>; readonly anewAt: number }>();
  /** Key blocks by masterchain seqno. */
  readonly #keyBlocks = new Map<number, number>();

  constructor(database: Database, chain: Pick<DetectionChain, 'config'>, clock: Clock) {
    this.#database = database;
    this.#chain = chain;
    this.#clock = clock;
  }

  /** @throws store/*, chain/*, lite/* */
  async at({ mc_seqno }: ContractAccount): Promise<RunConfig> {
    const key_block = await this.#keyBlockOf(mc_seqno);
    const config = await this.#config(key_block);
    return { config, prevBlocks: () => this.#prevBlocks(mc_seqno, key_block) };
  }

  /** Null: the block is not indexed. */
  async #keyBlockOf(mc_seqno: number): Promise<number | null> {
    if (mc_seqno === 0) return 0;
    const known = this.#keyBlocks.get(mc_seqno);
    if (known !== undefined) return known;
    const { rows } = await this.#database.withWriter((client) =>
      client.query<{ key_block: bigint }>({
        name: 'key-block-of-mc-block',
        text: `SELECT CASE WHEN bits & 32 = 0 THEN prev_key_block_seqno ELSE seqno END AS key_block FROM blocks WHERE id = $1`,
        values: [firstIdOf(mc_seqno)],
      }),
    );
    const row = rows[0];
    if (row === undefined) return null;
    if (this.#keyBlocks.size >= MAX_SEQNOS) this.#keyBlocks.clear();
    this.#keyBlocks.set(mc_seqno, Number(row.key_block));
    return Number(row.key_block);
  }

  #config(key_block: number | null): Promise<Cell> {
    const now = this.#clock.now();
    const kept = this.#configs.get(key_block);
    if (kept !== undefined && kept.anewAt > now) return kept.root;
    const root = this.#chain.config(key_block).then((boc) => parseBocRoot(boc));
    this.#configs.delete(key_block);
    for (const oldest of this.#configs.keys()) {
      if (this.#configs.size < MAX_CONFIGS) break;
      this.#configs.delete(oldest);
    }
    this.#configs.set(key_block, {
      root,
      anewAt: key_block === null ? now + REFRESH_CONFIG_MS : Number.POSITIVE_INFINITY,
    });
    root.catch(() => this.#configs.delete(key_block));
    return root;
  }

  /** Null when some of these blocks are not indexed. */
  async #prevBlocks(mc_seqno: number, key_block: number | null): Promise<TvmPrevBlocksInfo | null> {
    const last = seqnosBefore(mc_seqno, 1);
    const hundreds = seqnosBefore(mc_seqno - (mc_seqno % HUNDRED), HUNDRED);
    if (key_block === null) return null;
    const ids = [...new Set([...last, ...hundreds, key_block])].map(firstIdOf);
    const { rows } = await this.#database.withWriter((client) =>
      client.query<BlockRow>({
        name: 'blocks-before',
        text: `SELECT id, root_hash, file_hash FROM blocks WHERE id = ANY($1::bigint[])
               UNION ALL SELECT 0, zerostate_root_hash, zerostate_file_hash FROM index_state`,
        values: [ids],
      }),
    );
    const known = new Map(rows.map((row) => [row.id, row]));
    const blocks = (seqnos: readonly number[]): (TvmBlockId | null)[] =>
      seqnos.map((seqno) => {
        const row = known.get(firstIdOf(seqno));
        if (row === undefined) return null;
        return { ...MASTERCHAIN_SHARD, seqno, root_hash: row.root_hash, file_hash: row.file_hash };
      });
    const all = [...blocks(last), ...blocks(hundreds), ...blocks([key_block])];
    if (all.some((block) => block === null)) return null;
    return {
      last_mc_blocks: all.slice(0, last.length) as TvmBlockId[],
      last_mc_blocks_100: all.slice(last.length, -1) as TvmBlockId[],
      prev_key_block: all.at(-1) as TvmBlockId,
    };
  }
}

function seqnosBefore(first: number, step: number): number[] {
  const seqnos: number[] = [];
  for (let seqno = first; seqno >= 0 && seqnos.length < LAST_BLOCKS; seqno -= step) seqnos.push(seqno);
  return seqnos;
}
