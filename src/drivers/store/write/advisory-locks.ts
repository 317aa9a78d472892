import type { ClientBase } from 'pg';

/** The first number of all advisory locks of the index. */
const SPACE = 0x5445524e;

const LOCKS = { leader: 1, partitions: 2, traces: 3 } as const;

/** What only one session may do at a time. */
export type AdvisoryLock = keyof typeof LOCKS;

/** Waits for a lock, which is held until the transaction ends. */
export async function advisoryLock(client: ClientBase, lock: AdvisoryLock): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1, $2)', [SPACE, LOCKS[lock]]);
}

/** Takes a lock that is held until the session ends, unless another session has it. */
export async function tryAdvisoryLock(client: ClientBase, lock: AdvisoryLock): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [
    SPACE,
    LOCKS[lock],
  ]);
  return rows[0]!.taken;
}

/** Gives back what {@link tryAdvisoryLock} took. */
export async function advisoryUnlock(client: ClientBase, lock: AdvisoryLock): Promise<void> {
  await client.query('SELECT pg_advisory_unlock($1, $2)', [SPACE, LOCKS[lock]]);
}
