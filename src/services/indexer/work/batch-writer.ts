import type pg from 'pg';
import { OpenMessages } from '#domain/traces/open-messages.js';
import { TraceAssembler, type TraceBatch } from '#domain/traces/trace-assembler.js';
import type { Database } from '#drivers/store/database.js';
import { BatchEncoder } from '#drivers/store/encode/batch-encoder.js';
import { TransactionWriter } from '#drivers/store/encode/transaction-writer.js';
import { noteDerived } from '#drivers/store/write/derivations.js';
import type { SeqnoRange } from '#drivers/store/write/index-state.js';
import { createStagingTables, readKnownAccounts } from '#drivers/store/write/merge-accounts.js';
import { findOpenMessages } from '#drivers/store/write/merge-traces.js';
import { ensurePartitions, partitionsOf } from '#drivers/store/write/partitions.js';
import { type BatchOrder, type EncodedTable, writeBatch } from '#drivers/store/write/write-batch.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { Clock } from '#kernel/clock/clock.js';
import { PLAIN_CODES } from '#services/indexer/contracts/plain-codes.js';
import type { Round } from '#services/indexer/rounds/round.js';
import { AccountFold } from '#services/indexer/rows/account-fold.js';
import { zerostateAccounts } from '#services/indexer/rows/build-round.js';
import type { RoundRows, RoundTransaction } from '#services/indexer/rows/round-rows.js';
import { receivedMessage } from '#services/indexer/rows/transaction-rows.js';
import { changeTracesBy, traceRow } from '#services/indexer/work/change-traces.js';
import { RowsOfRounds } from '#services/indexer/work/rows-of-rounds.js';
import { neededCodes, selectAccounts, selectRows } from '#services/indexer/work/selected-rows.js';
import { TokenBatch } from '#services/indexer/work/token-batch.js';

export interface BatchWriterOptions {
  /** Masterchain blocks in one partition. */
  readonly partition_rounds: number;
  /** Keys of the accounts that are indexed; null: all. */
  readonly accounts: ReadonlySet<bigint> | null;
}

export interface BatchWriterModules {
  readonly database: Database;
  readonly clock: Clock;
  /** The version of the rules that a key block of the masterchain set; 0: the zerostate. */
  readonly globalVersion: (key_block: number) => Promise<number>;
}

/** A zerostate, whose accounts are there before the first round. */
export interface Zerostate {
  readonly workchain: number;
  readonly gen_utime: number;
  /** The file. */
  readonly data: Uint8Array;
}

/** Rounds in a row. */
export interface RoundBatch {
  readonly rounds: readonly Round[];
  /** Of all workchains, with the first round of the chain; null with others. */
  readonly zerostates: readonly Zerostate[] | null;
}

/** What was written, and how long it took. */
export interface BatchReport {
  readonly range: SeqnoRange;
  readonly blocks: number;
  readonly transactions: number;
  /** When the newest masterchain block was made, in unix seconds. */
  readonly gen_utime: number;
  /** Of the files. */
  readonly bytes: number;
  /** Milliseconds for rows and their encoding, in this process. */
  readonly buildMs: number;
  /** Milliseconds in the transaction, what it waited for included. */
  readonly writeMs: number;
}

/** A batch whose rows are made. */
interface Built {
  readonly range: SeqnoRange;
  readonly rounds: readonly RoundRows[];
  readonly fold: AccountFold;
  readonly writer: TransactionWriter;
}

/** Makes rows of rounds and writes them, a batch in one transaction. One at a time. */
export class BatchWriter {
  readonly #options: BatchWriterOptions;
  readonly #modules: BatchWriterModules;
  readonly #encoder = new BatchEncoder();
  readonly #partitions = new Set<number>();
  readonly #rows: RowsOfRounds;
  /** Connections whose staging tables are made. */
  readonly #prepared = new WeakSet<pg.PoolClient>();

  constructor(options: BatchWriterOptions, modules: BatchWriterModules) {
    this.#options = options;
    this.#modules = modules;
    this.#rows = new RowsOfRounds(modules.globalVersion);
  }

  /**
   * Writes a batch, or nothing of it.
   *
   * @throws store/overlap when some of it is written already, other errors of the store, and what malformed blocks make
   */
  async write(batch: RoundBatch, { alone, turn }: BatchOrder): Promise<BatchReport> {
    const { clock, database } = this.#modules;
    const begun = clock.now();
    const built = await this.#build(batch);
    const { range } = built;
    await this.#preparePartitions(range);
    const built_at = clock.now();
    let encodeMs = 0;
    const encode = <T>(work: () => T): T => {
      const from = clock.now();
      const result = work();
      encodeMs += clock.now() - from;
      return result;
    };
    this.#encoder.reset();
    const tokens = new TokenBatch(built.rounds);
    let used: pg.PoolClient | null = null;
    await database.transaction(async (client) => {
      used = client;
      if (!this.#prepared.has(client)) await createStagingTables(client);
      let traces: TraceBatch | null = null;
      const parts = {
        range,
        plainCodes: PLAIN_CODES,
        rows: async () => {
          const known = alone ? await knownMessages(client, built.rounds) : undefined;
          await tokens.read(client);
          return encode(() => {
            traces = this.#encodeRows(built, known);
            tokens.encode(this.#encoder);
            return this.#tables(false);
          });
        },
        staged: async () => {
          const addresses = built.fold.wanting();
          const known = await readKnownAccounts(client, addresses);
          return encode(() => {
            this.#encodeAccounts(built, new Map(known.map((account) => [toHex(account.address), account])));
            return this.#tables(true);
          });
        },
        traces: async () => {
          await changeTracesBy(client, traces!);
          await tokens.confirm(client);
          await noteDerived(client, 'token_events', range);
        },
      };
      await writeBatch(client, parts, { alone, turn });
    });
    if (used !== null) this.#prepared.add(used);
    let [blocks, transactions, bytes] = [0, 0, 0];
    for (const round of built.rounds) {
      blocks += round.blocks.length;
      transactions += round.transactions.length;
    }
    for (const round of batch.rounds) for (const { data } of round.blocks) bytes += data.length;
    const buildMs = built_at - begun + encodeMs;
    const writeMs = clock.now() - built_at - encodeMs;
    // The block of the masterchain is the first of its round.
    const { gen_utime } = built.rounds.at(-1)!.blocks[0]!;
    return { range, blocks, transactions, gen_utime, bytes, buildMs, writeMs };
  }

  async #build({ rounds, zerostates }: RoundBatch): Promise<Built> {
    const { accounts } = this.#options;
    const writer = new TransactionWriter();
    const fold = new AccountFold();
    for (const { data, ...place } of zerostates ?? []) {
      const all = zerostateAccounts(parseBocRoot(data), place, writer);
      fold.add({ accounts: accounts === null ? all : selectAccounts(all, accounts), transactions: [] });
    }
    const rows: RoundRows[] = [];
    for (const round of rounds) {
      const all = await this.#rows.build(round, writer);
      const selected = accounts === null ? all : selectRows(all, accounts);
      fold.add(selected);
      rows.push(selected);
    }
    const range = { from: rounds[0]!.mc_seqno, to: rounds.at(-1)!.mc_seqno };
    return { range, rounds: rows, fold, writer };
  }

  async #preparePartitions(range: SeqnoRange): Promise<void> {
    const { partition_rounds } = this.#options;
    const partitions = partitionsOf(range, partition_rounds);
    if (partitions.every((partition) => this.#partitions.has(partition))) return;
    await this.#modules.database.withWriter((client) => ensurePartitions(client, range, partition_rounds));
    for (const partition of partitions) this.#partitions.add(partition);
  }

  #encodeRows({ rounds }: Built, known: OpenMessages | undefined): TraceBatch {
    const encoder = this.#encoder;
    const assembler = new TraceAssembler(known);
    const orphans = new Map<bigint, RoundTransaction>();
    for (const { blocks, transactions, messages } of rounds) {
      encoder.addAll('blocks', blocks);
      encoder.addAll('messages', messages);
      for (const transaction of transactions) {
        transaction.trace_root = assembler.add(transaction);
        if (transaction.trace_root === transaction.id && transaction.in_msg?.kind === 'internal') {
          orphans.set(transaction.id, transaction);
        }
        encoder.add('transactions', transaction);
      }
    }
    const traces = assembler.finish();
    for (const trace of traces.started) {
      const { accounts, ...row } = trace;
      encoder.add('traces', traceRow(row));
      const { root, end_lt, end_utime } = row;
      for (const account_key of accounts) encoder.add('trace_accounts', { root, account_key, end_lt, end_utime });
    }
    for (const { hash, root } of traces.opened) encoder.add('open_messages', { msg_hash: hash, trace_root: root });
    for (const { hash, root } of traces.orphans) {
      encoder.add('orphan_messages', { msg_hash: hash, tx_id: root });
      const message = receivedMessage(orphans.get(root)!);
      if (message !== null) encoder.add('messages', message);
    }
    return traces;
  }

  #encodeAccounts({ rounds, fold, writer }: Built, known: Parameters<AccountFold['finish']>[0]): void {
    const rows = fold.finish(known);
    const { accounts } = this.#options;
    const codes = accounts === null ? writer.codes : neededCodes(writer.codes, rows, rounds);
    this.#encoder.addAll('accounts', rows);
    this.#encoder.addAll('codes', codes);
  }

  #tables(staged: boolean): EncodedTable[] {
    return this.#encoder.finish().filter(({ table }) => table.startsWith('staged_') === staged);
  }
}

/** Of the messages that the transactions received, those that are open. */
async function knownMessages(client: pg.PoolClient, rounds: readonly RoundRows[]): Promise<OpenMessages> {
  const received: Uint8Array[] = [];
  for (const { transactions } of rounds) {
    for (const { in_msg } of transactions) if (in_msg?.kind === 'internal') received.push(in_msg.hash);
  }
  const open = await findOpenMessages(client, received);
  return new OpenMessages(open.map(({ msg_hash, trace_root }) => ({ hash: msg_hash, root: trace_root })));
}
