import type pg from 'pg';
import type { ClientBase } from 'pg';
import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import { growTrace, joinTraces, OpenMessages, type Trace } from '#domain/traces/trace.js';
import { TraceAssembler, type TraceBatch } from '#domain/traces/trace-assembler.js';
import type { Database } from '#drivers/store/database.js';
import { recordContractChange, type TouchedMcBlock, touchedKeys } from '#drivers/store/event-log.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { seqnoOfId } from '#drivers/store/keys.js';
import { TransactionWriter } from '#drivers/store/stored-transaction.js';
import type { TraceRow } from '#drivers/store/tables.js';
import { createStagingTables, readKnownAccounts } from '#drivers/store/write/accounts.js';
import { markDerived } from '#drivers/store/write/derivations.js';
import { ensurePartitions, partitionsOf } from '#drivers/store/write/partitions.js';
import { ownerKeys } from '#drivers/store/write/token-events.js';
import {
  closeOpenMessages,
  findJoins,
  findOpenMessages,
  readTraceRows,
  type TraceChange,
  updateAndMergeTraces,
} from '#drivers/store/write/traces.js';
import { BatchEncoder, type BatchOrder, type EncodedTable, writeBatch } from '#drivers/store/write/write-batch.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import { type Derivation, type DerivationBatch, progressKey } from '#services/indexer/derivations/derivation.js';
import { writeTraces } from '#services/indexer/derivations/derivation-progress.js';
import { DERIVATIONS } from '#services/indexer/derivations/registered.js';
import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import { BatchAccounts, type LatestAccount } from '#services/indexer/rows/batch-accounts.js';
import { BundleRowsBuilder, zerostateAccounts } from '#services/indexer/rows/build-rows.js';
import {
  type BundleRows,
  type BundleTransaction,
  neededCodes,
  selectAccounts,
  selectRows,
} from '#services/indexer/rows/bundle-rows.js';
import { receivedMessage } from '#services/indexer/rows/transaction-rows.js';
import { ChainContinuity, type McBlockIdOf } from '#services/indexer/write/chain-continuity.js';

export interface BatchWriterOptions {
  /** Masterchain blocks in one partition. */
  readonly partition_rounds: number;
  /** Keys of the indexed accounts; null: all. */
  readonly accounts: ReadonlySet<bigint> | null;
}

export interface BatchWriterModules {
  readonly database: Database;
  readonly clock: Clock;
  /** The global version set by a key block. @param key_block masterchain seqno; 0: the zerostate */
  readonly globalVersion: (key_block: number) => Promise<number>;
  /** The chain that is indexed, for indexed blocks next to gaps. */
  readonly mcBlockId: McBlockIdOf;
  /** Default: the registered ones. */
  readonly derivations?: readonly Derivation[];
}

/** A zerostate, whose accounts exist before the first masterchain block. */
export interface ZerostateFile {
  readonly workchain: number;
  readonly gen_utime: number;
  /** The zerostate file. */
  readonly data: Uint8Array;
}

/** Consecutive bundles. */
export interface BundleBatch {
  readonly bundles: readonly McBlockBundle[];
  /** The zerostates of all workchains, with the first masterchain block; null otherwise. */
  readonly zerostates: readonly ZerostateFile[] | null;
}

/** What was written, and the time it took. */
export interface BatchReport {
  readonly range: SeqnoRange;
  readonly blocks: number;
  readonly transactions: number;
  /** Unix time of the newest masterchain block. */
  readonly gen_utime: number;
  /** Bytes of the block files. */
  readonly bytes: number;
  /** Milliseconds spent building and encoding rows. */
  readonly buildMs: number;
  /** Milliseconds in the database transaction, waiting included. */
  readonly writeMs: number;
}

/** A batch with its rows. */
interface BuiltBatch {
  readonly range: SeqnoRange;
  readonly bundles: readonly BundleRows[];
  readonly fold: BatchAccounts;
  readonly writer: TransactionWriter;
  /** `account_key` of each account of the zerostates: known from now on, and without a transaction. */
  readonly zerostateAccounts: readonly bigint[];
}

/** Builds the rows of bundles and writes each batch in one database transaction. One batch at a time. */
export class BatchWriter {
  readonly #options: BatchWriterOptions;
  readonly #modules: BatchWriterModules;
  readonly #encoder = new BatchEncoder();
  readonly #partitions = new Set<number>();
  readonly #rows: BundleRowsBuilder;
  readonly #continuity: ChainContinuity;
  /** Connections on which the staging tables exist. */
  readonly #prepared = new WeakSet<pg.PoolClient>();

  constructor(options: BatchWriterOptions, modules: BatchWriterModules) {
    this.#options = options;
    this.#modules = modules;
    this.#rows = new BundleRowsBuilder(modules.globalVersion);
    this.#continuity = new ChainContinuity(modules.mcBlockId);
  }

  /**
   * Writes a batch, entirely or not at all.
   *
   * @throws store/overlap when a part of it is already written; indexer/other-branch, indexer/broken-link when it does not continue
   *   the indexed chain; store/*; cells/* and tlb/* for malformed blocks
   */
  async write(batch: BundleBatch, { exclusive, awaitPrevious }: BatchOrder): Promise<BatchReport> {
    const { clock, database } = this.#modules;
    const startedAt = clock.now();
    const built = await this.#build(batch);
    const { range } = built;
    await database.withWriter((client) => this.#continuity.prepare(client, range, built.bundles));
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
    const derived = new DerivedRows(this.#modules.derivations ?? DERIVATIONS, built.bundles);
    let latest: readonly LatestAccount[] = [];
    let used: pg.PoolClient | null = null;
    await database.transaction(async (client) => {
      used = client;
      if (!this.#prepared.has(client)) await createStagingTables(client);
      let traces: TraceBatch | null = null;
      let mergedTraces: readonly bigint[] = [];
      const parts = {
        range,
        plainCodes: WALLET_CODE_HASHES,
        requireContinuity: () => this.#continuity.require(client, range, built.bundles),
        rows: async () => {
          const known = exclusive ? await knownMessages(client, built.bundles) : undefined;
          await derived.read(client);
          return encode(() => {
            traces = this.#encodeRows(built, known);
            derived.encode(this.#encoder);
            return this.#tables(false);
          });
        },
        staged: async () => {
          const addresses = built.fold.incompleteAddresses();
          const known = await readKnownAccounts(client, addresses);
          return encode(() => {
            latest = this.#encodeAccounts(built, new Map(known.map((account) => [toHex(account.address), account])));
            return this.#tables(true);
          });
        },
        traces: async () => {
          const { merged, completed } = await updateTraces(client, traces!);
          mergedTraces = merged;
          if (built.zerostateAccounts.length > 0) await recordContractChange(client, built.zerostateAccounts);
          await derived.finish(client, { range, completed, addresses: latest.map(({ address }) => address) });
        },
        touched: () => encode(() => touchedMcBlocks(built.bundles, derived.tokens, mergedTraces)),
      };
      await writeBatch(client, parts, { exclusive, awaitPrevious });
    });
    if (used !== null) this.#prepared.add(used);
    let [blocks, transactions, bytes] = [0, 0, 0];
    for (const bundle of built.bundles) {
      blocks += bundle.blocks.length;
      transactions += bundle.transactions.length;
    }
    for (const bundle of batch.bundles) for (const { data } of bundle.blocks) bytes += data.length;
    const buildMs = built_at - startedAt + encodeMs;
    const writeMs = clock.now() - built_at - encodeMs;
    // The masterchain block is the first of its bundle.
    const { gen_utime } = built.bundles.at(-1)!.blocks[0]!;
    return { range, blocks, transactions, gen_utime, bytes, buildMs, writeMs };
  }

  async #build({ bundles, zerostates }: BundleBatch): Promise<BuiltBatch> {
    const { accounts } = this.#options;
    const writer = new TransactionWriter();
    const fold = new BatchAccounts();
    const ofZerostates: bigint[] = [];
    for (const { data, ...place } of zerostates ?? []) {
      const all = zerostateAccounts(parseBocRoot(data), place, writer);
      const selected = accounts === null ? all : selectAccounts(all, accounts);
      fold.add({ accounts: selected, transactions: [] });
      for (const { account_key } of selected) ofZerostates.push(account_key);
    }
    const rows: BundleRows[] = [];
    for (const bundle of bundles) {
      const all = await this.#rows.build(bundle, writer);
      const selected = accounts === null ? all : selectRows(all, accounts);
      fold.add(selected);
      rows.push(selected);
    }
    const range = { from: bundles[0]!.mc_seqno, to: bundles.at(-1)!.mc_seqno };
    return { range, bundles: rows, fold, writer, zerostateAccounts: ofZerostates };
  }

  async #preparePartitions(range: SeqnoRange): Promise<void> {
    const { partition_rounds } = this.#options;
    const partitions = partitionsOf(range, partition_rounds);
    if (partitions.every((partition) => this.#partitions.has(partition))) return;
    await this.#modules.database.withWriter((client) => ensurePartitions(client, range, partition_rounds));
    for (const partition of partitions) this.#partitions.add(partition);
  }

  #encodeRows({ bundles }: BuiltBatch, known: OpenMessages | undefined): TraceBatch {
    const encoder = this.#encoder;
    const assembler = new TraceAssembler(known);
    const orphans = new Map<bigint, BundleTransaction>();
    for (const { blocks, transactions, messages } of bundles) {
      encoder.addAll('blocks', blocks);
      encoder.addAll('messages', messages);
      for (const transaction of transactions) {
        transaction.trace_root = assembler.add(transaction);
        if (isFromUnindexed(transaction)) orphans.set(transaction.id, transaction);
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

  #encodeAccounts(
    { bundles, fold, writer }: BuiltBatch,
    known: Parameters<BatchAccounts['finish']>[0],
  ): readonly LatestAccount[] {
    const rows = fold.finish(known);
    const { accounts } = this.#options;
    const codes = accounts === null ? writer.codes : neededCodes(writer.codes, rows, bundles);
    this.#encoder.addAll('accounts', rows);
    this.#encoder.addAll('codes', codes);
    return rows;
  }

  #tables(staged: boolean): EncodedTable[] {
    return this.#encoder.finish().filter(({ table }) => table.startsWith('staged_') === staged);
  }
}

/** The open messages that the transactions receive. */
async function knownMessages(client: pg.PoolClient, bundles: readonly BundleRows[]): Promise<OpenMessages> {
  const received: Uint8Array[] = [];
  for (const { transactions } of bundles) {
    for (const { in_msg } of transactions) if (in_msg?.kind === 'internal') received.push(in_msg.hash);
  }
  const open = await findOpenMessages(client, received);
  return new OpenMessages(open.map(({ msg_hash, trace_root }) => ({ hash: msg_hash, root: trace_root })));
}

/** The rows of all derivations in the transaction of a batch. */
class DerivedRows {
  readonly #derivations: readonly Derivation[];
  readonly #batches: readonly DerivationBatch[];
  /** Keys of tokens by transaction id, for the event log. */
  readonly tokens: ReadonlyMap<bigint, bigint>;

  constructor(derivations: readonly Derivation[], bundles: readonly BundleRows[]) {
    this.#derivations = derivations;
    this.#batches = derivations.flatMap((each) => (each.input === 'mc-blocks' ? [each.inBatch(bundles)] : []));
    this.tokens = this.#batches.find(({ tokens }) => tokens !== undefined)?.tokens ?? new Map();
  }

  async read(client: ClientBase): Promise<void> {
    for (const batch of this.#batches) await batch.read(client);
  }

  encode(encoder: BatchEncoder): void {
    for (const batch of this.#batches) batch.encode(encoder);
  }

  /** Under the trace lock, after the rows of the batch. @param addresses of changed accounts */
  async finish(
    client: ClientBase,
    {
      range,
      completed,
      addresses,
    }: { range: SeqnoRange; completed: readonly CompletedTrace[]; addresses: readonly Uint8Array[] },
  ): Promise<void> {
    for (const batch of this.#batches) await batch.finish(client);
    for (const derivation of this.#derivations) {
      if (derivation.input === 'changed-accounts') {
        await derivation.changed?.(client, addresses);
        continue;
      }
      if (derivation.input === 'ended-traces') {
        const later = completed.filter(({ mc_seqno_end: end }) => end < range.from || end > range.to);
        if (later.length > 0) await derivation.completedLater(client, later.map(rootOf));
        continue;
      }
      if (derivation.input === 'complete-traces') await writeTraces(client, derivation, completed.map(rootOf));
      await markDerived(client, progressKey(derivation), range);
    }
  }
}

/** A trace that a batch completes. */
type CompletedTrace = Pick<Trace, 'root' | 'mc_seqno_end'>;

function rootOf({ root }: CompletedTrace): bigint {
  return root;
}

/** What each masterchain block touched, for the event log. Traces that were merged belong to the last one. */
function touchedMcBlocks(
  bundles: readonly BundleRows[],
  tokens: ReadonlyMap<bigint, bigint>,
  mergedTraces: readonly bigint[],
): TouchedMcBlock[] {
  return bundles.map(({ mc_seqno, transactions, messages }, i) => {
    const traces = i === bundles.length - 1 ? mergedTraces : [];
    const touchedTokens = transactions.map(({ id }) => tokens.get(id)).filter((key) => key !== undefined);
    // Of all candidates: their wallets and items may be confirmed later.
    const owners = transactions.flatMap(({ token_candidate: event }) => (event === null ? [] : ownerKeys(event)));
    const senders = transactions.filter(isFromUnindexed).flatMap((each) => receivedMessage(each)?.source_key ?? []);
    return {
      mc_seqno,
      touched: touchedKeys({ transactions, messages, traces, senders, tokens: touchedTokens, owners }),
    };
  });
}

/** Whether a transaction received an internal message that no indexed transaction sent; system messages are sent by none. */
function isFromUnindexed({ id, trace_root, in_msg }: BundleTransaction): boolean {
  return trace_root === id && in_msg !== null && in_msg.kind !== 'external';
}

/** The states of traces as the table has them, by number. */
const TRACE_STATES = ['complete', 'pending', 'broken'] as const;

/** The row of a trace. */
export function traceRow({ mc_seqno_start: _, state, ...trace }: Trace): TraceRow {
  return { ...trace, state: TRACE_STATES.indexOf(state) };
}

function traceOfRow({ state, ...row }: TraceRow): Trace {
  return { ...row, mc_seqno_start: seqnoOfId(row.root), state: TRACE_STATES[state]! };
}

/**
 * Updates the traces that continue in a batch, and those that it connects. The rows of the batch are already written, and the
 * trace lock is held.
 *
 * @returns roots of the traces that others were merged into, and the traces that the batch completes
 * @throws traces/trace-missing, store/*: the transaction must be rolled back
 */
async function updateTraces(
  client: ClientBase,
  batch: TraceBatch,
): Promise<{ readonly merged: readonly bigint[]; readonly completed: readonly CompletedTrace[] }> {
  await closeOpenMessages(
    client,
    batch.received.map(({ hash }) => hash),
  );
  const joins = await findJoins(
    client,
    [...batch.opened, ...batch.orphans].map(({ hash }) => hash),
  );
  const roots = new Set(batch.continued.map(({ root }) => root));
  for (const { parent_root, orphan } of joins) {
    roots.add(parent_root);
    roots.add(orphan);
  }
  const before = await readTraceRows(client, [...roots]);
  const traces = new Map(before.map((row) => [row.root, traceOfRow(row)]));
  for (const growth of batch.continued) traces.set(growth.root, growTrace(traces.get(growth.root), growth));
  const { traces: joined, absorbed } = joinTraces(
    joins.map(({ msg_hash, parent_root, orphan }) => ({ hash: msg_hash, parent: parent_root, orphan })),
    traces.values(),
  );
  for (const trace of joined) traces.set(trace.root, trace);
  const absorbs = new Map<bigint, bigint[]>();
  for (const { from, to } of absorbed) {
    traces.delete(from);
    const list = absorbs.get(to);
    if (list === undefined) absorbs.set(to, [from]);
    else list.push(from);
  }
  const changes: TraceChange[] = [];
  for (const trace of traces.values()) changes.push({ trace: traceRow(trace), absorbs: absorbs.get(trace.root) ?? [] });
  await updateAndMergeTraces(client, changes, joins, before);
  const gone = new Set(absorbed.map(({ from }) => from));
  const started = batch.started.filter(({ root }) => !traces.has(root) && !gone.has(root));
  const completed = [...started, ...traces.values()].filter(({ state }) => state === 'complete');
  return { merged: [...absorbs.keys()], completed };
}
