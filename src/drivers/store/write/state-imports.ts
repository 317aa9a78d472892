import type { ClientBase } from 'pg';
import { storeErrors } from '#drivers/store/errors.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { stateSeqnoSql } from '#drivers/store/index-state.js';
import { addressBytes } from '#drivers/store/keys.js';
import { Address } from '#formats/address/address.js';
import { accountIdsOf } from '#formats/tlb/block-id.js';
import { toHex } from '#kernel/bytes.js';

/** Progress of the import of one file with accounts; see migration 0006. */
export interface StateImportRow {
  readonly mc_seqno: number;
  readonly workchain: number;
  /** Signed. */
  readonly shard: bigint;
  readonly root_hash: Uint8Array;
  /** Id of the last account that was written, in the end the last one of the shard; empty: none. */
  readonly position: Uint8Array;
  readonly accounts: bigint;
  readonly finished: boolean;
}

/**
 * Begins the import of some files, or continues it: files with the same content go on where they were. The progress of another import
 * is removed; the accounts that it wrote stay, and newer states replace them.
 */
export async function beginStateImport(
  client: ClientBase,
  files: readonly Pick<StateImportRow, 'mc_seqno' | 'workchain' | 'shard' | 'root_hash'>[],
): Promise<readonly StateImportRow[]> {
  const values = [
    files.map(({ mc_seqno }) => mc_seqno),
    files.map(({ workchain }) => workchain),
    files.map(({ shard }) => shard),
    files.map(({ root_hash }) => root_hash),
  ];
  const given = 'unnest($1::int[], $2::int[], $3::bigint[], $4::bytea[]) AS n (mc_seqno, workchain, shard, root_hash)';
  await client.query(
    `DELETE FROM state_imports i WHERE NOT EXISTS (SELECT FROM ${given}
       WHERE (n.mc_seqno, n.workchain, n.shard, n.root_hash) = (i.mc_seqno, i.workchain, i.shard, i.root_hash))`,
    values,
  );
  await client.query(
    `INSERT INTO state_imports (mc_seqno, workchain, shard, root_hash) SELECT * FROM ${given} ON CONFLICT DO NOTHING`,
    values,
  );
  return readStateImports(client);
}

/** The files of the import that was begun last. */
async function readStateImports(client: ClientBase): Promise<readonly StateImportRow[]> {
  const { rows } = await client.query<StateImportRow>(
    `SELECT mc_seqno, workchain, shard, root_hash, position, accounts, finished FROM state_imports
     ORDER BY workchain, shard`,
  );
  return rows;
}

/**
 * Moves the position in a file, in the transaction that writes the accounts up to there.
 *
 * @param row before
 * @throws store/import-elsewhere when another process moved it
 */
export async function moveStateImport(
  client: ClientBase,
  row: StateImportRow,
  moved: Pick<StateImportRow, 'position' | 'accounts' | 'finished'>,
): Promise<void> {
  const { mc_seqno, workchain, shard, position } = row;
  const { rowCount } = await client.query({
    name: 'move-state-import',
    text: `UPDATE state_imports SET position = $5, accounts = $6, finished = $7
           WHERE mc_seqno = $1 AND workchain = $2 AND shard = $3 AND position = $4 AND NOT finished`,
    values: [mc_seqno, workchain, shard, position, moved.position, moved.accounts, moved.finished],
  });
  if (rowCount !== 1) throw storeErrors['import-elsewhere']({ mc_seqno, workchain });
}

/** Addresses as they are stored, in the order of their bytes. */
export interface AddressInterval {
  /** Not part of it. */
  readonly after: Uint8Array;
  /** Part of it. */
  readonly last: Uint8Array;
}

/** An account as a bound of an {@link AddressInterval}. @param id null: before all accounts of the workchain */
export function addressAt(workchain: number, id: Uint8Array | null): Uint8Array {
  const address = addressBytes(Address.ofParts(workchain, id ?? new Uint8Array(32)));
  return id === null ? address.subarray(0, address.length - 32) : address;
}

/** Where the states of all accounts are known by now, of an import that may not be complete. */
export async function importedIntervals(client: ClientBase): Promise<readonly AddressInterval[]> {
  return (await readStateImports(client))
    .filter(({ position }) => position.length > 0)
    .map(({ workchain, shard, position }) => ({
      after: addressAt(workchain, accountIdsOf(BigInt.asUintN(64, shard)).before),
      last: addressAt(workchain, position),
    }));
}

/** The accounts that are known in an interval of addresses, by address in hex: the lt of their last transactions. */
export async function accountsBetween(
  client: ClientBase,
  { after, last }: AddressInterval,
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await client.query<{ address: Uint8Array; last_trans_lt: bigint }>({
    name: 'accounts-between',
    text: 'SELECT address, last_trans_lt FROM accounts WHERE address > $1 AND address <= $2',
    values: [after, last],
  });
  return new Map(rows.map(({ address, last_trans_lt }) => [toHex(address), last_trans_lt]));
}

/**
 * Declares that the newest state of every account is known as of a masterchain block S: for the last transaction of an import of the
 * persistent states of all shards as of S. History begins after S; blocks after S that are indexed already are taken into account, so
 * blocks may be followed and filled at any time while the states are imported.
 *
 * By then, for each account that exists at S, `accounts` has its state at S or a newer one (`last_trans_lt` decides, as for batches),
 * its code is in `codes`, and contracts are in `contract_queue` or have their rows already. Accounts that the index knew and that do not
 * exist at S are marked as deleted, unless a later block shows them. In rows of imported accounts `mc_seqno` is S,
 * `gen_utime` the time of the shard block, `first_tx` null. The transaction holds the lock of `lockTraces`.
 *
 * Announces a change of contract rows, so that answers made before do not hold any more.
 */
export async function completeState(client: ClientBase, mc_seqno: number): Promise<void> {
  const known = `greatest(state_seqno, ${Math.trunc(mc_seqno)})`;
  await client.query(`UPDATE index_state SET state_seqno = ${stateSeqnoSql('rounds', known)}`);
  // Who has no row does not exist now.
  await client.query('TRUNCATE absent_accounts');
  await recordContractChange(client, null);
}
