import type { ClientBase } from 'pg';
import { storeErrors } from '#drivers/store/errors.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** Which network an index is of: hashes of the zerostate. */
export interface NetworkIdentity {
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

/** @throws store/other-network */
export function requireSameNetwork(wanted: NetworkIdentity, index: NetworkIdentity): void {
  for (const field of ['root_hash', 'file_hash'] as const) {
    if (bytesEqual(wanted[field], index[field])) continue;
    const [expected, found] = [toHex(wanted[field]), toHex(index[field])];
    throw storeErrors['other-network']({ field: `zerostate_${field}`, expected, found });
  }
}

/**
 * That the index, if it is begun, is of this network. The schema may be an older one of Tern.
 *
 * @throws store/other-network
 */
export async function requireNetwork(client: ClientBase, network: NetworkIdentity): Promise<void> {
  const { rows } = await client.query<NetworkIdentity>(
    'SELECT zerostate_root_hash AS root_hash, zerostate_file_hash AS file_hash FROM index_state',
  );
  for (const index of rows) requireSameNetwork(network, index);
}
