import type { ClientBase } from 'pg';
import { storeErrors } from '#drivers/store/errors.js';
import { type NetworkIdentity, requireSameNetwork } from '#drivers/store/network-identity.js';

/** What an index is of. It is chosen when the index is begun and never changes. */
export interface IndexIdentity {
  readonly zerostate_root_hash: Uint8Array;
  readonly zerostate_file_hash: Uint8Array;
  /** What is left out, by setting; the same texts must be given each time. */
  readonly selection: Readonly<Record<string, string>>;
}

/** Masterchain seqnos from the first to the last, both included. */
export interface SeqnoRange {
  readonly from: number;
  readonly to: number;
}

/** How far an index is. */
export interface IndexState {
  /** Masterchain blocks in one partition. */
  readonly partition_rounds: number;
  /** What is indexed; rising, no two of them touch. */
  readonly rounds: readonly SeqnoRange[];
  /** Everything below was pruned. */
  readonly pruned_below: number;
}

interface StateRow {
  readonly zerostate_root_hash: Uint8Array;
  readonly zerostate_file_hash: Uint8Array;
  readonly selection: Record<string, string>;
  readonly partition_rounds: number;
  readonly rounds: string;
  readonly pruned_below: number;
}

/**
 * Begins the index, or takes up the one that is there when it is of the same network and selection.
 *
 * @param partition_rounds counts only for an index that is begun
 * @throws store/other-network, store/other-selection
 */
export async function openIndex(
  client: ClientBase,
  identity: IndexIdentity,
  partition_rounds: number,
): Promise<IndexState> {
  const { zerostate_root_hash, zerostate_file_hash, selection } = identity;
  await client.query(
    `INSERT INTO index_state (zerostate_root_hash, zerostate_file_hash, partition_rounds, selection)
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [zerostate_root_hash, zerostate_file_hash, partition_rounds, selection],
  );
  return requireIdentity(client, identity);
}

/**
 * That the index is of this network and selection; nothing is changed.
 *
 * @throws store/other-network, store/other-selection, store/no-index
 */
export async function requireIdentity(client: ClientBase, identity: IndexIdentity): Promise<IndexState> {
  const row = await stateRow(client);
  if (row === undefined) throw storeErrors['no-index']({});
  requireSameNetwork(networkOf(identity), networkOf(row));
  const [wanted, found] = [describeSelection(identity.selection), describeSelection(row.selection)];
  if (wanted !== found) throw storeErrors['other-selection']({ wanted, found });
  return stateOf(row);
}

function networkOf(zerostate: Pick<IndexIdentity, 'zerostate_root_hash' | 'zerostate_file_hash'>): NetworkIdentity {
  return { root_hash: zerostate.zerostate_root_hash, file_hash: zerostate.zerostate_file_hash };
}

/** How far the index is; null before it is begun. */
export async function readIndexState(client: ClientBase): Promise<IndexState | null> {
  const row = await stateRow(client);
  return row === undefined ? null : stateOf(row);
}

async function stateRow(client: ClientBase): Promise<StateRow | undefined> {
  const { rows } = await client.query<StateRow>(
    `SELECT zerostate_root_hash, zerostate_file_hash, selection, partition_rounds, rounds::text AS rounds, pruned_below
     FROM index_state`,
  );
  return rows[0];
}

function stateOf({ partition_rounds, rounds, pruned_below }: StateRow): IndexState {
  return { partition_rounds, rounds: parseRanges(rounds), pruned_below };
}

/** Reads the text of an int4multirange: `{[1,5),[7,8)}`. */
function parseRanges(text: string): SeqnoRange[] {
  return [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, end]) => ({ from: Number(from), to: Number(end) - 1 }));
}

function describeSelection(selection: Readonly<Record<string, string>>): string {
  const entries = Object.entries(selection).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? 'everything' : entries.map(([name, value]) => `${name} ${value}`).join(', ');
}

/**
 * Notes rounds as indexed, in the transaction that writes them. Others who do so wait for its end.
 *
 * @throws store/overlap when some of them are indexed already: the transaction must be rolled back
 */
export async function claimRounds(client: ClientBase, { from, to }: SeqnoRange): Promise<void> {
  const { rowCount } = await client.query({
    name: 'claim-rounds',
    text: `UPDATE index_state SET rounds = rounds + int4multirange(int4range($1, $2))
           WHERE NOT rounds && int4range($1, $2) AND pruned_below <= $1`,
    values: [from, to + 1],
  });
  if (rowCount !== 1) throw storeErrors.overlap({ from, to });
}

/**
 * Says, in the transaction that changes it, that something else is told of contracts or metadata: answers made before are not
 * good any more. Others who do so, and batches, wait for its end.
 */
export async function noteContractChange(client: ClientBase): Promise<void> {
  await client.query({
    name: 'note-contract-change',
    text: 'UPDATE index_state SET contract_changes = contract_changes + 1',
  });
}

/**
 * Looks whether rounds may be written, before the work of doing so; {@link claimRounds} decides.
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
