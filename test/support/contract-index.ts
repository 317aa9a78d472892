import type pg from 'pg';
import { CandidateInterfaces, CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { addressBytes } from '#drivers/store/keys.js';
import { AccountStatusCode } from '#drivers/store/stored-state.js';
import { createStagingTables, mergeAccounts } from '#drivers/store/write/accounts.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { ContractCodes, PublishedLibraryCache } from '#services/indexer/contracts/contract-accounts.js';
import { ConfigsAtBlock, ContractMethodRunner } from '#services/indexer/contracts/contract-methods.js';
import type { DetectionChain, DetectSums } from '#services/indexer/contracts/detect-protocol.js';
import {
  ContractDetector,
  type ContractDetectorModules,
  PastContractReader,
} from '#services/indexer/contracts/detector.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { mainnetConfig } from '#test/support/tvm-contract.js';

const candidates = new CandidateInterfaces(CONTRACT_INTERFACES);

/** A state of an account. */
export interface HandMade {
  readonly address: Address;
  /** Null: it is gone. */
  readonly code: Cell | null;
  readonly data?: Cell;
  readonly lt: number;
  /** Unix seconds. */
  readonly utime?: number;
  readonly mc_seqno?: number;
}

/** An index of accounts that are made up, and who looks at them. */
export class ContractIndex {
  readonly database: Database;
  readonly client: pg.Client;
  readonly detector: ContractDetector;
  readonly past: PastContractReader;
  /** What a chain answers; may be replaced. */
  readonly chain: { -readonly [Name in keyof DetectionChain]: DetectionChain[Name] };
  /** Codes of errors for which contracts were postponed. */
  readonly postponed: string[] = [];
  now = 1_800_000_000;
  readonly #test: TestDatabase;

  private constructor(test: TestDatabase, database: Database, client: pg.Client, tvm: TvmPool) {
    this.#test = test;
    this.database = database;
    this.client = client;
    this.chain = {
      config: async () => serializeBoc(mainnetConfig),
      library: async () => null,
      account: async () => null,
      accountAt: async () => 'unavailable',
    };
    const clock = systemClock;
    const chain: DetectionChain = {
      config: (of) => this.chain.config(of),
      library: (of) => this.chain.library(of),
      account: (of) => this.chain.account(of),
      accountAt: (of, mc_seqno) => this.chain.accountAt(of, mc_seqno),
    };
    const libraries = new PublishedLibraryCache(chain, clock);
    const configs = new ConfigsAtBlock(database, chain, clock);
    const modules: ContractDetectorModules = {
      ...{
        database,
        clock,
        chain,
        libraries,
        logger: silentLogger,
        kindsOf: (codeHash, methodIds) => candidates.of(codeHash, methodIds),
        storesUnindexed: true,
      },
      codes: new ContractCodes(libraries),
      unixTime: () => this.now,
      runs: new ContractMethodRunner({ tvm: async () => tvm, libraries, configAt: (state) => configs.at(state) }),
      onPostponed: (error) => void this.postponed.push((error as { code: string }).code),
    };
    this.detector = new ContractDetector(modules);
    this.past = new PastContractReader(modules);
  }

  static async open(tvm: TvmPool): Promise<ContractIndex> {
    const test = await testDatabase();
    const database = await Database.open({ url: test.url, writeConnections: 3 }, { clock: systemClock });
    const client = await test.connect();
    const hash = new Uint8Array(32);
    await openIndex(client, { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} }, 1000);
    return new ContractIndex(test, database, client, tvm);
  }

  /** Writes states as a batch does. */
  async put(...states: readonly HandMade[]): Promise<void> {
    const { client } = this;
    await client.query('BEGIN');
    await createStagingTables(client);
    for (const { address, code, data = null, lt, utime = 1_750_000_000, mc_seqno = lt } of states) {
      if (code !== null) {
        const values = [code.hash(), serializeBoc(code)];
        await client.query('INSERT INTO staged_codes (code_hash, boc, methods_read) VALUES ($1, $2, true)', values);
      }
      const { active, nonexist } = AccountStatusCode;
      await client.query(
        `INSERT INTO staged_accounts (address, state_hash, status, balance, last_trans_lt, last_trans_hash, mc_seqno, gen_utime,
           code_hash, data_hash, data_boc, incomplete) VALUES ($1, $2, $3, 1000000000, $4, $2, $5, $6, $7, $8, $9, false)`,
        [
          ...[
            addressBytes(address),
            new Uint8Array(32).fill(lt),
            code === null ? nonexist : active,
            lt,
            mc_seqno,
            utime,
          ],
          ...[code?.hash() ?? null, data?.hash() ?? null, data === null ? null : serializeBoc(data)],
        ],
      );
    }
    await mergeAccounts(client, WALLET_CODE_HASHES);
    await client.query('COMMIT');
  }

  /** Looks at all that is due, and tells what was counted. */
  async look(): Promise<DetectSums> {
    let all: DetectSums = { detected: 0, natively: 0, runs: 0, postponed: 0, seconds: 0, refused: {} };
    for (;;) {
      const sums = await this.detector.next(false);
      if (sums === null) return all;
      const refused = { ...all.refused };
      for (const [key, count] of Object.entries(sums.refused)) refused[key] = (refused[key] ?? 0) + count;
      all = {
        detected: all.detected + sums.detected,
        natively: all.natively + sums.natively,
        runs: all.runs + sums.runs,
        postponed: all.postponed + sums.postponed,
        seconds: all.seconds + sums.seconds,
        refused,
      };
    }
  }

  /** The first row of a query about an account, whose bytes are `$1`. */
  async row<Row extends pg.QueryResultRow>(text: string, address: Address): Promise<Row | undefined> {
    return (await this.client.query<Row>(text, [addressBytes(address)])).rows[0];
  }

  async count(table: string): Promise<number> {
    return Number((await this.client.query(`SELECT count(*) FROM ${table}`)).rows[0].count);
  }

  async close(): Promise<void> {
    await this.database.close();
    await this.#test.close();
  }
}
