import type { PoolMetrics, ServerMetrics } from '#drivers/lite/metrics.js';

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
/** Columns of text; the others are numbers and stand to the right. */
const LEFT = new Set([0, 1, 10]);

/** One page on how servers are, for people. */
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
  const head = head_seqno === 0 ? 'no head is known' : `head ${head_seqno}`;
  return `${healthy} of ${servers.length} servers healthy, ${archives} with the whole archive, ${head}`;
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
