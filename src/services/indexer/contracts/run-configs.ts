import type { Database } from '#drivers/store/database.js';
import { firstIdOf } from '#drivers/store/ids.js';
import type { BlockName, PrevBlocksInfo } from '#drivers/tvm/prev-blocks-info.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { ChainQuestions } from '#services/indexer/contracts/chain-questions.js';
import type { RunConfig } from '#services/indexer/contracts/contract-runs.js';
import type { ContractState } from '#services/indexer/contracts/contract-state.js';

const MOST_CONFIGS = 16;
const MOST_SEQNOS = 10_000;
/** The newest one is asked for again after this. */
const ANEW_MS = 60_000;
const LAST_BLOCKS = 16;
const HUNDRED = 100;

interface BlockRow {
  readonly id: bigint;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

/** Configurations as they were in force at masterchain blocks, and what contracts may know of the blocks before. */
export class RunConfigs {
  readonly #database: Database;
  readonly #chain: Pick<ChainQuestions, 'config'>;
  readonly #clock: Clock;
  /** By key block; the newest under null. */
  readonly #configs = new Map<number | null, { readonly root: Promise<Cell>; readonly anewAt: number }>();
  /** Key blocks by masterchain seqno. */
  readonly #keyBlocks = new Map<number, number>();

  constructor(database: Database, chain: Pick<ChainQuestions, 'config'>, clock: Clock) {
    this.#database = database;
    this.#chain = chain;
    this.#clock = clock;
  }

  /** @throws store/*, chain/*, lite/* */
  async at({ mc_seqno }: ContractState): Promise<RunConfig> {
    const key_block = await this.#keyBlockOf(mc_seqno);
    const config = await this.#config(key_block);
    return { config, prevBlocks: () => this.#prevBlocks(mc_seqno, key_block) };
  }

  /** Null: that block is not indexed. */
  async #keyBlockOf(mc_seqno: number): Promise<number | null> {
    if (mc_seqno === 0) return 0;
    const known = this.#keyBlocks.get(mc_seqno);
    if (known !== undefined) return known;
    const { rows } = await this.#database.withWriter((client) =>
      client.query<{ key_block: bigint }>({
        name: 'key-block-of-round',
        text: `SELECT CASE WHEN bits & 32 = 0 THEN prev_key_block_seqno ELSE seqno END AS key_block FROM blocks WHERE id = $1`,
        values: [firstIdOf(mc_seqno)],
      }),
    );
    const row = rows[0];
    if (row === undefined) return null;
    if (this.#keyBlocks.size >= MOST_SEQNOS) this.#keyBlocks.clear();
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
      if (this.#configs.size < MOST_CONFIGS) break;
      this.#configs.delete(oldest);
    }
    this.#configs.set(key_block, { root, anewAt: key_block === null ? now + ANEW_MS : Number.POSITIVE_INFINITY });
    root.catch(() => this.#configs.delete(key_block));
    return root;
  }

  /** Null where not all of these blocks are indexed. */
  async #prevBlocks(mc_seqno: number, key_block: number | null): Promise<PrevBlocksInfo | null> {
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
    const blocks = (seqnos: readonly number[]): (BlockName | null)[] =>
      seqnos.map((seqno) => {
        const row = known.get(firstIdOf(seqno));
        if (row === undefined) return null;
        return { ...MASTERCHAIN_SHARD, seqno, root_hash: row.root_hash, file_hash: row.file_hash };
      });
    const all = [...blocks(last), ...blocks(hundreds), ...blocks([key_block])];
    if (all.some((block) => block === null)) return null;
    return {
      last_mc_blocks: all.slice(0, last.length) as BlockName[],
      last_mc_blocks_100: all.slice(last.length, -1) as BlockName[],
      prev_key_block: all.at(-1) as BlockName,
    };
  }
}

function seqnosBefore(first: number, step: number): number[] {
  const seqnos: number[] = [];
  for (let seqno = first; seqno >= 0 && seqnos.length < LAST_BLOCKS; seqno -= step) seqnos.push(seqno);
  return seqnos;
}
