import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { cliErrors } from '#app/cli/errors.js';
import { download, loadConfig } from '#app/config/networks.js';
import type { PoolMetrics, ServerMetrics } from '#drivers/lite/metrics.js';
import { LitePool } from '#drivers/lite/pool.js';
import { systemClock } from '#kernel/clock.js';

interface StatusOptions {
  readonly network: string;
  readonly wait: string;
  readonly json?: true;
}

/** `tern lite`: information about the liteservers of a network. */
export function liteCommand(): Command {
  const lite = new Command('lite').description('show information about the liteservers of a network');
  lite.addCommand(statusCommand());
  return lite;
}

function statusCommand(): Command {
  return new Command('status')
    .description('show the state of each liteserver of a network config: health, head, latency, clock, history')
    .requiredOption('-n, --network <network>', 'mainnet, testnet, or the file or URL of a global.config.json')
    .option('--json', 'print JSON')
    .option('-w, --wait <seconds>', 'maximum time to wait for servers', '10')
    .action(async (options: StatusOptions, command: Command) => {
      const write = command.configureOutput().writeOut ?? ((text: string) => void process.stdout.write(text));
      const waitMs = Number(options.wait) * 1000;
      if (!(waitMs > 0 && waitMs <= 3_600_000)) {
        throw cliErrors.usage({ problem: `--wait is "${options.wait}"; accepted: a number of seconds up to 3600` });
      }
      const { servers } = await loadConfig(options.network, { download });
      const modules = { clock: systemClock, unixTimeMs: Date.now, random: Math.random, randomBytes };
      const pool = new LitePool({ servers }, modules);
      pool.start();
      try {
        await pool.whenSettled(waitMs);
        const metrics = pool.metrics();
        write(options.json === true ? `${JSON.stringify(metrics, plainValue, 2)}\n` : statusPage(metrics));
        if (metrics.head_seqno > 0) return;
        throw cliErrors['no-server']({ file: options.network, servers: servers.length });
      } finally {
        await pool.close();
      }
    });
}

/** Bigints as decimal text. */
function plainValue(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

const COLUMNS = [
  'server',
  'state',
  'seqno',
  'lag',
  'mean',
  'p95',
  'clock',
  'version',
  'blocks from',
  'states from',
  'errors',
];
/** Left-aligned text columns; the others are numbers. */
const LEFT = new Set([0, 1, 10]);

/** Formats the state of the servers as a table. */
export function statusPage(metrics: PoolMetrics): string {
  const rows = [COLUMNS, ...metrics.servers.map(row)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const table = rows.map((cells) => line(cells, widths));
  const reasons = metrics.servers
    .filter(({ reason, state }) => reason !== '' && state !== 'healthy')
    .map(({ server, reason, quarantine_seconds }) => {
      const left = quarantine_seconds > 0 ? ` (for ${Math.ceil(quarantine_seconds)} s more)` : '';
      return `${server}: ${reason.replace(/\s+/g, ' ')}${left}`;
    });
  return `${[summary(metrics), '', ...table, ...(reasons.length > 0 ? ['', ...reasons] : [])].join('\n')}\n`;
}

function summary(metrics: PoolMetrics): string {
  const { servers, head_seqno } = metrics;
  const healthy = servers.filter(({ state }) => state === 'healthy').length;
  const archives = servers.filter(({ is_archive }) => is_archive).length;
  const head = head_seqno === 0 ? 'head unknown' : `head ${head_seqno}`;
  return `${healthy} of ${servers.length} servers healthy, ${archives} archive servers, ${head}`;
}

function row(server: ServerMetrics): string[] {
  const isKnown = server.seqno > 0;
  return [
    server.server,
    server.state,
    isKnown ? String(server.seqno) : '-',
    isKnown ? String(server.lag) : '-',
    milliseconds(server.rtt_mean_seconds),
    milliseconds(server.rtt_p95_seconds),
    server.clock_skew_seconds === null
      ? '-'
      : `${server.clock_skew_seconds > 0 ? '+' : ''}${server.clock_skew_seconds} s`,
    server.version === 0 ? '-' : `${server.version >> 8}.${server.version & 255}/${server.capabilities}`,
    oldest(server.oldest_block),
    oldest(server.oldest_state),
    Object.entries(server.errors)
      .map(([code, times]) => (times === 1 ? code : `${code} x${times}`))
      .join(' ') || '-',
  ];
}

function line(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, i) => (LEFT.has(i) ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)));
  return padded.join('  ').trimEnd();
}

function milliseconds(seconds: number | null): string {
  if (seconds === null) return '-';
  const ms = seconds * 1000;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

function oldest(seqno: number | null): string {
  if (seqno === null) return '-';
  return seqno <= 1 ? 'the first' : String(seqno);
}
