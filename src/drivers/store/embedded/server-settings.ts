import { totalmem } from 'node:os';
import process from 'node:process';

/** Settings of a PostgreSQL server by name, as in postgresql.conf. */
export type ServerSettings = Readonly<Record<string, string | number>>;

const MiB = 2 ** 20;

/** Memory that this process and its children may use together, in bytes: that of the container if there is a limit. */
export function usableMemory(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * Settings of the embedded server, for a machine that Tern has to itself: much is written in batches, what is read is mostly
 * recent, and Tern's own caches want memory as well. A commit is on the disk when it is acknowledged, as ever.
 *
 * @param memoryBytes see {@link usableMemory}
 */
export function serverSettings(memoryBytes: number): ServerSettings {
  const share = (part: number, least: number, most: number) =>
    `${Math.round(Math.min(most, Math.max(least, (memoryBytes * part) / MiB)))}MB`;
  return {
    // Reached by a Unix socket in a folder of its own, so there is no port to clash and no password to keep.
    listen_addresses: '',
    unix_socket_permissions: '0700',
    max_connections: 64,
    shared_buffers: share(1 / 8, 64, 8192),
    effective_cache_size: share(1 / 2, 256, 65_536),
    maintenance_work_mem: share(1 / 32, 64, 1024),
    work_mem: '16MB',
    // Compiling a query costs more than any of ours takes; the second core is Tern's.
    jit: 'off',
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,
    synchronous_commit: 'on',
    // Nobody replicates from here; then what is copied into a table of the same transaction needs no log.
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_wal_size: '4GB',
    min_wal_size: '256MB',
    checkpoint_timeout: '15min',
    random_page_cost: 1.1,
    // A query over all partitions locks each of them and its indexes.
    max_locks_per_transaction: 512,
    // Failures of statements are told to who sent them, and are no reason to fill a disk.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
}

/** As arguments of `postgres`. */
export function settingArguments(settings: ServerSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
