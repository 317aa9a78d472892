import type { ClientBase } from 'pg';
import type { Database, ReadLimits } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { appendEvents } from '#drivers/store/event-log.js';
import { tryLeaderLock } from '#drivers/store/write/locks.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** What an index contains. It is chosen when the index is created and never changes. */
export interface IndexIdentity {
  readonly zerostate_root_hash: Uint8Array;
  readonly zerostate_file_hash: Uint8Array;
  /** What is selected, by setting; the same texts must be given each time. */
  readonly selection: Readonly<Record<string, string>>;
  /** The incarnation of a local network: when it changes, the index is created again. Default, and null: it is not known. */
  readonly chain?: string | null;
  /** Whether accounts come into the chain without a transaction, as into a fork. Default: not known, which changes nothing. */
  readonly accountsComeFromElsewhere?: boolean;
}

/** Masterchain seqnos from the first to the last, both included. */
export interface SeqnoRange {
  readonly from: number;
  readonly to: number;
}

/** The state of an index. */
export interface IndexState {
  /** Masterchain blocks in one partition. */
  readonly partition_rounds: number;
  /** Indexed masterchain seqnos; ascending, no two ranges touch. */
  readonly indexedRanges: readonly SeqnoRange[];
  /** Everything below this masterchain seqno was pruned. */
  readonly pruned_below: number;
  /** The masterchain seqno as of which the newest state of every account is known; null: not of every account. */
  readonly state_seqno: number | null;
}

interface StateRow {
  readonly zerostate_root_hash: Uint8Array;
  readonly zerostate_file_hash: Uint8Array;
  readonly selection: Record<string, string>;
  readonly partition_rounds: number;
  readonly rounds: string;
  readonly pruned_below: number;
  readonly state_seqno: number | null;
  readonly chain: string | null;
}

/**
 * Creates the index, or opens the existing one when it is of the same network and selection. The index of another incarnation of a
 * local network is created again: a loaded snapshot continues the same zerostate, a reset begins with another one.
 *
 * @param partition_rounds used only when the index is created
 * @throws store/other-network, store/other-selection, store/index-in-use
 */
export async function openIndex(
  client: ClientBase,
  identity: IndexIdentity,
  partition_rounds: number,
): Promise<IndexState> {
  const { zerostate_root_hash, zerostate_file_hash, selection, chain = null, accountsComeFromElsewhere } = identity;
  const created = await client.query<{ last_event: bigint }>(
    `INSERT INTO index_state (zerostate_root_hash, zerostate_file_hash, partition_rounds, selection, chain, last_event)
     VALUES ($1, $2, $3, $4, $5, 1) ON CONFLICT DO NOTHING RETURNING last_event`,
    [zerostate_root_hash, zerostate_file_hash, partition_rounds, selection, chain],
  );
  for (const { last_event: id } of created.rows) {
    await appendEvents(client, [{ id, kind: 'reset', range: null, touched: null }]);
  }
  const row = await stateRow(client);
  if (row !== undefined && isReplaced(identity, row)) {
    requireSelection(identity, row);
    return recreateIndex(client, identity, partition_rounds);
  }
  if (accountsComeFromElsewhere !== undefined) {
    await client.query(
      `UPDATE index_state SET accounts_elsewhere = $1, state_seqno = CASE WHEN $1 THEN NULL ELSE state_seqno END
       WHERE accounts_elsewhere <> $1`,
      [accountsComeFromElsewhere],
    );
  }
  const state = await requireIdentity(client, identity);
  // An index that was begun before this was recorded is compared with the chain, as those of other networks are.
  if (chain === null || chain === row?.chain) return state;
  await client.query('UPDATE index_state SET chain = $1', [chain]);
  return state;
}

/** Whether an index is of a local network whose chain was replaced by another one. */
function isReplaced({ chain = null }: Pick<IndexIdentity, 'chain'>, stored: Pick<StateRow, 'chain'>): boolean {
  return chain !== null && stored.chain !== null && chain !== stored.chain;
}

/**
 * Deletes all that is indexed, and creates the index again for the same network, or for another incarnation of a local one. Events
 * go on where they were: `reset` is the only one that is retained. Partitions stay, empty; keys, usage and webhooks stay as they are.
 *
 * @param client in a transaction
 * @throws store/index-in-use, store/other-network, store/no-index
 */
export async function recreateIndex(
  client: ClientBase,
  identity: IndexIdentity,
  partition_rounds: number,
): Promise<IndexState> {
  if (!(await tryLeaderLock(client))) throw storeErrors['index-in-use']({});
  const row = await stateRow(client);
  if (row === undefined) return openIndex(client, identity, partition_rounds);
  if (!isReplaced(identity, row)) requireSameNetwork(networkOf(identity), networkOf(row));
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
       AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN
         ('schema_migrations', 'index_state', 'action_layouts', 'deferred_indexes', 'webhooks', 'webhook_deliveries')
       AND relname NOT LIKE 'access\\_%'`,
  );
  await client.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')} RESTART IDENTITY`);
  const { rows } = await client.query<{ last_event: bigint }>(
    `UPDATE index_state SET rounds = '{}', pruned_below = 0, state_seqno = NULL, selection = $1, chain = $2,
       accounts_elsewhere = coalesce($3, accounts_elsewhere), zerostate_root_hash = $4, zerostate_file_hash = $5,
       contract_changes = contract_changes + 1, last_event = last_event + 1 RETURNING last_event`,
    [
      ...[identity.selection, identity.chain ?? null, identity.accountsComeFromElsewhere ?? null],
      ...[identity.zerostate_root_hash, identity.zerostate_file_hash],
    ],
  );
  await appendEvents(client, [{ id: rows[0]!.last_event, kind: 'reset', range: null, touched: null }]);
  return requireIdentity(client, identity);
}

/**
 * Checks that the index is of this network and selection; changes nothing.
 *
 * @throws store/other-network, store/other-selection, store/no-index
 */
export async function requireIdentity(client: ClientBase, identity: IndexIdentity): Promise<IndexState> {
  const row = await stateRow(client);
  if (row === undefined) throw storeErrors['no-index']({});
  requireSameNetwork(networkOf(identity), networkOf(row));
  requireSelection(identity, row);
  return stateOf(row);
}

/** @throws store/other-selection */
function requireSelection(identity: IndexIdentity, row: StateRow): void {
  const [wanted, found] = [describeSelection(identity.selection), describeSelection(row.selection)];
  if (wanted !== found) throw storeErrors['other-selection']({ wanted, found });
}

function networkOf(zerostate: Pick<IndexIdentity, 'zerostate_root_hash' | 'zerostate_file_hash'>): NetworkIdentity {
  return { root_hash: zerostate.zerostate_root_hash, file_hash: zerostate.zerostate_file_hash };
}

/** The state of the index; null before it is created. */
export async function readIndexState(client: ClientBase): Promise<IndexState | null> {
  const row = await stateRow(client);
  return row === undefined ? null : stateOf(row);
}

async function stateRow(client: ClientBase): Promise<StateRow | undefined> {
  const { rows } = await client.query<StateRow>(
    `SELECT zerostate_root_hash, zerostate_file_hash, selection, partition_rounds, rounds::text AS rounds, pruned_below, state_seqno,
       chain FROM index_state`,
  );
  return rows[0];
}

function stateOf({ partition_rounds, rounds, pruned_below, state_seqno }: StateRow): IndexState {
  return { partition_rounds, indexedRanges: parseRanges(rounds), pruned_below, state_seqno };
}

/** Parses an int4multirange: `{[1,5),[7,8)}`. */
function parseRanges(text: string): SeqnoRange[] {
  return [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, end]) => ({ from: Number(from), to: Number(end) - 1 }));
}

function describeSelection(selection: Readonly<Record<string, string>>): string {
  const entries = Object.entries(selection).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? 'everything' : entries.map(([name, value]) => `${name} ${value}`).join(', ');
}

/**
 * The column `state_seqno` when these are the indexed seqnos: it goes on over the blocks that follow it without a gap. All accounts of
 * the zerostates come with masterchain block 1.
 *
 * @param rounds SQL of an int4multirange @param known SQL of the seqno as of which the state is known to be complete, or null
 */
export function stateSeqnoSql(rounds: string, known: string): string {
  return `CASE WHEN accounts_elsewhere THEN NULL ELSE greatest(${known}, (
    SELECT max(upper(r)) - 1 FROM unnest(${rounds}) r WHERE r @> (${known} + 1) OR (selection = '{}' AND r @> 1))) END`;
}

const WITH_CLAIMED = 'rounds + int4multirange(int4range($1, $2))';

/** A range that a transaction has claimed. */
export interface ClaimedRange {
  /** The id of the last of the events that the transaction is to append. */
  readonly last_event: bigint;
  /** Whether nothing after the range is indexed. */
  readonly is_newest: boolean;
  /** As of which masterchain block the states of all accounts were known before; null: they were not. */
  readonly state_seqno: number | null;
  /** Of the states that are being imported, or were imported last. */
  readonly import_seqno: number | null;
}

/**
 * Marks masterchain blocks as indexed, in the transaction that writes them. Other transactions that do so wait until it ends.
 *
 * @param events how many events the transaction is going to append
 * @throws store/overlap when some of them are indexed already: the transaction must be rolled back
 */
export async function claimRange(client: ClientBase, { from, to }: SeqnoRange, events: number): Promise<ClaimedRange> {
  const { rows } = await client.query<ClaimedRange>({
    name: 'claim-range',
    text: `UPDATE index_state SET rounds = ${WITH_CLAIMED}, last_event = last_event + $3,
             state_seqno = ${stateSeqnoSql(WITH_CLAIMED, 'state_seqno')}
           FROM (SELECT CASE WHEN selection = '{}' THEN state_seqno END AS known FROM index_state) AS before
           WHERE NOT rounds && int4range($1, $2) AND pruned_below <= $1
           RETURNING last_event, upper(rounds) = $2 AS is_newest, before.known AS state_seqno,
             CASE WHEN selection = '{}' AND NOT accounts_elsewhere THEN (SELECT max(mc_seqno) FROM state_imports) END AS import_seqno`,
    values: [from, to + 1, events],
  });
  const [claimed] = rows;
  if (claimed === undefined) throw storeErrors.overlap({ from, to });
  return claimed;
}

/**
 * Checks early whether masterchain blocks may be written; {@link claimRange} decides.
 *
 * @throws store/overlap
 */
export async function requireUnclaimed(client: ClientBase, { from, to }: SeqnoRange): Promise<void> {
  const { rowCount } = await client.query({
    name: 'require-unclaimed',
    text: 'SELECT FROM index_state WHERE NOT rounds && int4range($1, $2) AND pruned_below <= $1',
    values: [from, to + 1],
  });
  if (rowCount !== 1) throw storeErrors.overlap({ from, to });
}

/**
 * What an index contains of its chain. Answers that depend on more than that say so.
 *
 * History: the blocks of these masterchain seqnos, with all they commit. Ranges that are filled later join those that they touch.
 *
 * Current state: the newest state of each account. An index that has followed its chain from the zerostate knows all of them; so does
 * one into which the persistent states as of a masterchain block were imported, and all blocks after it.
 */
export interface IndexCoverage {
  /** Ascending, no two ranges touch. */
  readonly history: readonly SeqnoRange[];
  /** Whether only selected accounts are indexed: neither history nor state are those of the chain then. */
  readonly selected: boolean;
  /** The masterchain seqno as of which the newest state of every account is known; null: not of every account. */
  readonly state_seqno: number | null;
}

/** The progress of an index, for processes that only read it. */
export interface IndexProgress {
  /** What the index contains of its chain. */
  readonly coverage: IndexCoverage;
  /** The indexed masterchain seqnos as the text of a multirange; it changes with the content. */
  readonly indexedRanges: string;
  /** The lowest and the highest masterchain seqno that are indexed; null when there is none. */
  readonly first: number | null;
  readonly last: number | null;
  /** gen_utime of the block `last`, in unix seconds. */
  readonly gen_utime: number | null;
  /** Masterchain blocks between first and last that are not indexed. */
  readonly missing: number;
  /** Counts changes of contract rows and token metadata. */
  readonly contract_changes: bigint;
  /** The newest event of the event log. */
  readonly last_event: bigint;
}

interface ProgressRow extends NetworkIdentity {
  readonly rounds: string;
  readonly selected: boolean;
  readonly state_seqno: number | null;
  readonly first: number | null;
  readonly last: number | null;
  readonly gen_utime: bigint | null;
  readonly count: bigint;
  readonly contract_changes: bigint;
  readonly last_event: bigint;
}

const PROGRESS_QUERY = `SELECT s.zerostate_root_hash AS root_hash, s.zerostate_file_hash AS file_hash, s.rounds::text AS rounds,
  s.selection <> '{}' AS selected, s.state_seqno,
  lower(s.rounds) AS first, upper(s.rounds) - 1 AS last,
  (SELECT gen_utime FROM blocks WHERE id = (upper(s.rounds) - 1)::bigint << 24) AS gen_utime,
  (SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest(s.rounds) r) AS count, s.contract_changes, s.last_event
FROM index_state s`;

/**
 * The progress of the index; null before it is created.
 *
 * @throws store/other-network when it is of another network; errors of the database
 */
export async function readIndexProgress(
  database: Database,
  network: NetworkIdentity,
  limits: ReadLimits,
): Promise<IndexProgress | null> {
  const [row] = await database.query<ProgressRow>({ name: 'index-progress', text: PROGRESS_QUERY }, limits);
  if (row === undefined) return null;
  requireSameNetwork(network, row);
  const { rounds, first, last, gen_utime, count, contract_changes, last_event, selected, state_seqno } = row;
  const missing = first === null || last === null ? 0 : last - first + 1 - Number(count);
  return {
    coverage: { history: parseRanges(rounds), selected, state_seqno },
    indexedRanges: rounds,
    first,
    last,
    gen_utime: gen_utime === null ? null : Number(gen_utime),
    missing,
    contract_changes,
    last_event,
  };
}

/** The network of an index: hashes of its zerostate. */
export interface NetworkIdentity {
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

/** @throws store/other-network */
function requireSameNetwork(wanted: NetworkIdentity, index: NetworkIdentity): void {
  for (const field of ['root_hash', 'file_hash'] as const) {
    if (bytesEqual(wanted[field], index[field])) continue;
    const [expected, found] = [toHex(wanted[field]), toHex(index[field])];
    throw storeErrors['other-network']({ field: `zerostate_${field}`, expected, found });
  }
}

/**
 * Checks that the index, if there is one, is of this network. The schema may be an older one.
 *
 * @param writes whether {@link openIndex} follows, which creates the index of a local network again that was replaced
 * @throws store/other-network
 */
export async function requireNetwork(
  client: ClientBase,
  network: NetworkIdentity & { readonly incarnation?: string | null },
  writes: boolean,
): Promise<void> {
  // Older schemas have no column for the incarnation.
  const { rows } = await client.query<NetworkIdentity & { readonly chain: string | null }>(
    `SELECT zerostate_root_hash AS root_hash, zerostate_file_hash AS file_hash, to_jsonb(index_state) ->> 'chain' AS chain
     FROM index_state`,
  );
  const { incarnation: chain = null } = network;
  for (const index of rows) if (!writes || !isReplaced({ chain }, index)) requireSameNetwork(network, index);
}

/** Whether every account is known in its newest state: none that has no row exists. */
export function isStateComplete({ history, selected, state_seqno }: IndexCoverage): boolean {
  return !selected && state_seqno !== null && state_seqno >= (history.at(-1)?.to ?? 0);
}

/** Whether all blocks of the chain up to the head of the index are indexed, for all accounts. */
export function isHistoryComplete({ history, selected }: IndexCoverage): boolean {
  return !selected && history.length === 1 && history[0]!.from === 1;
}

/** At most so many ranges are printed: those with the newest blocks. */
const MOST_RANGES = 8;

/** The indexed masterchain seqnos as text: `1-599,900-1060`; `none`. Of very many ranges only the newest. */
export function historyText(history: readonly SeqnoRange[]): string {
  if (history.length === 0) return 'none';
  return history
    .slice(-MOST_RANGES)
    .map(({ from, to }) => `${from}-${to}`)
    .join(',');
}

/**
 * The coverage as text: `history=900-1060; state=partial`, with `; accounts=selected` where only selected accounts are indexed. It is the
 * value of `X-Tern-Coverage`.
 */
export function coverageText(coverage: IndexCoverage): string {
  const selected = coverage.selected ? '; accounts=selected' : '';
  const state = isStateComplete(coverage) ? 'complete' : 'partial';
  return `history=${historyText(coverage.history)}; state=${state}${selected}`;
}
