import { once } from 'node:events';
import pg, { type ClientBase } from 'pg';
import { from } from 'pg-copy-streams';

/** Rows go to the socket in pieces: PostgreSQL keeps each in memory whole, and a piece is what waits when it is busy. */
const PIECE_BYTES = 256 * 1024;

/**
 * Copies rows into a table, inside the transaction of the caller. While the database is busy, no further chunks are taken.
 * After an error the connection is fit for `ROLLBACK`, whether the database refused the rows or the chunks threw.
 *
 * @param chunks the bytes of {@link CopyRows.finish}, cut anywhere
 * @returns the number of rows
 */
export async function copyBinary(
  client: ClientBase,
  table: string,
  columns: readonly string[],
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<number> {
  const names = columns.map(pg.escapeIdentifier).join(', ');
  const stream = client.query(from(`COPY ${pg.escapeIdentifier(table)} (${names}) FROM STDIN (FORMAT binary)`));
  let refusal: Error | null = null;
  stream.on('error', (error) => {
    refusal ??= error;
  });
  const check = () => {
    if (refusal !== null) throw refusal;
  };
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        check();
        // Rejects, as the one below, when the database refuses.
        if (!stream.write(chunk.subarray(at, at + PIECE_BYTES))) await once(stream, 'drain');
      }
    }
    check();
    stream.end();
    await once(stream, 'finish');
    return stream.rowCount;
  } catch (error) {
    // After a refusal the connection is free already. Else the database is told that nothing will follow.
    if (refusal === null) {
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.destroy(error instanceof Error ? error : undefined);
      await closed;
    }
    throw error;
  }
}
