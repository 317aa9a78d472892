import type { ClientBase } from 'pg';

/** A code whose get methods were not looked for yet. */
export interface UnreadCode {
  readonly code_hash: Uint8Array;
  readonly boc: Uint8Array;
}

/**
 * Some codes whose get methods were not looked for yet, by hash: those of an index that knew nothing of them, and references to
 * libraries that are not known.
 */
export async function unreadCodes(client: ClientBase, after: Uint8Array | null, limit: number): Promise<UnreadCode[]> {
  const { rows } = await client.query<UnreadCode>({
    name: 'unread-codes',
    text: `SELECT code_hash, boc FROM codes WHERE NOT methods_read AND code_hash > $1 ORDER BY code_hash LIMIT $2`,
    values: [after ?? new Uint8Array(), limit],
  });
  return rows;
}

/** Of codes by their hashes, the cells of those that are known. */
export async function knownCodes(client: ClientBase, hashes: readonly Uint8Array[]): Promise<UnreadCode[]> {
  if (hashes.length === 0) return [];
  const { rows } = await client.query<UnreadCode>({
    name: 'known-codes',
    text: 'SELECT code_hash, boc FROM codes WHERE code_hash = ANY($1::bytea[])',
    values: [hashes],
  });
  return rows;
}

/**
 * Notes the get methods of a code, of a library reference those of the library; they are not looked for again. What is told of
 * its contracts changes: the transaction of the caller has to say so with `noteContractChange`.
 *
 * @param methods null: it has no table of them
 */
export async function setCodeMethods(
  client: ClientBase,
  code_hash: Uint8Array,
  methods: readonly number[] | null,
): Promise<void> {
  await client.query({
    name: 'set-code-methods',
    text: 'UPDATE codes SET methods = $2, methods_read = true WHERE code_hash = $1',
    values: [code_hash, methods],
  });
}
