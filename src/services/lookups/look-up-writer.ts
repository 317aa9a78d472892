import { setImmediate } from 'node:timers';
import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import type { Database } from '#drivers/store/database.js';
import type { IndexHeadBlock } from '#drivers/store/read/known-accounts.js';
import type { ImportedAccountRow } from '#drivers/store/write/accounts.js';
import { addLookedUpAccounts } from '#drivers/store/write/looked-up-accounts.js';

/** An account as it was found after a block. */
export interface LookedUpAccount {
  readonly block: IndexHeadBlock;
  /** As stored. */
  readonly address: Uint8Array;
  /** Null: it does not exist. */
  readonly row: ImportedAccountRow | null;
}

interface Waiting extends LookedUpAccount {
  readonly resolve: (added: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Accounts in one transaction at most: it holds the lock that batches of blocks wait for. */
const MOST = 64;

/** How long a transaction waits for that lock: while history is filled, batches hold it most of the time. */
const LOCK_MS = 5_000;

/** After so many absent accounts, those of the index are counted again. */
const ABSENT_PER_COUNT = 1_024;

/** Adds accounts to the index, those that come at the same time in one transaction. */
export class LookUpWriter {
  readonly #database: () => Promise<Pick<Database, 'transaction'>>;
  readonly #mostAbsent: number;
  /** Absent accounts that were added since those of the index were last counted. */
  #uncounted = ABSENT_PER_COUNT;
  #waiting: Waiting[] = [];
  #isWriting = false;

  /** @param database for writing; @param mostAbsent as `LookedUpOptions` */
  constructor(database: () => Promise<Pick<Database, 'transaction'>>, mostAbsent: number) {
    this.#database = database;
    this.#mostAbsent = mostAbsent;
  }

  /** @returns whether it is in the index; false: the index has gone on otherwise meanwhile @throws store/* */
  add(account: LookedUpAccount): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...account, resolve, reject });
      if (this.#isWriting) return;
      this.#isWriting = true;
      // What is found in the same turn goes together.
      setImmediate(() => void this.#write());
    });
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const { block } = this.#waiting[0]!;
      const batch = this.#waiting.filter((each) => each.block.seqno === block.seqno).slice(0, MOST);
      this.#waiting = this.#waiting.filter((each) => !batch.includes(each));
      try {
        const added = await this.#add(block, batch);
        for (const { resolve } of batch) resolve(added);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #add(block: IndexHeadBlock, batch: readonly LookedUpAccount[]): Promise<boolean> {
    const found = batch.flatMap(({ row }) => (row === null ? [] : [row]));
    const absent = batch.flatMap(({ row, address }) => (row === null ? [address] : []));
    const database = await this.#database();
    const counts = this.#uncounted >= ABSENT_PER_COUNT;
    const options = { plain: WALLET_CODE_HASHES, mostAbsent: counts ? this.#mostAbsent : null };
    const added = await database.transaction(async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
      return addLookedUpAccounts(client, { block, found, absent }, options);
    });
    this.#uncounted = counts ? 0 : this.#uncounted + absent.length;
    return added;
  }
}
