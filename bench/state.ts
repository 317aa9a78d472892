import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import type { ReportTable } from './report.js';
import type { ImportJob, ImportResult } from './state/import-process.js';
import { type SyntheticState, writeSyntheticState } from './state/synthetic-state.js';
import type { BenchSuite } from './suite.js';

/** Accounts of the state, unless `--size` says otherwise. */
const ACCOUNTS = 500_000;
/** Accounts and cells of the basechain of mainnet, about. */
const MAINNET = { accounts: 200e6, cells: 1e9 };

const MIB = 2 ** 20;

async function runProcess(job: ImportJob): Promise<ImportResult> {
  const entry = fileURLToPath(new URL('./state/import-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', entry, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (piece: Buffer) => {
    output += piece.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`the importing process ended with code ${code}`);
  return JSON.parse(output) as ImportResult;
}

async function measure(accounts: number): Promise<ReportTable[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tern-bench-state-'));
  // The database runs as another user.
  chmodSync(folder, 0o755);
  try {
    process.stderr.write(`bench: state: making a state of ${accounts} accounts …\n`);
    const state = writeSyntheticState(folder, accounts);
    const files = [state.masterchainFile, state.basechainFile];
    const known = await runProcess({ url: '', files, folder, hashesOnly: true, hashes: [] });
    process.stderr.write('bench: state: importing it …\n');
    const server = await startEmbeddedServer({ folder: join(folder, 'postgres'), sync: false }, { clock: systemClock });
    try {
      const url = server.urlOf('tern');
      return tablesOf(state, await runProcess({ url, files, folder, hashesOnly: false, hashes: known.hashes }));
    } finally {
      await server.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const rounded = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

function tablesOf(state: SyntheticState, result: ImportResult): ReportTable[] {
  const { verifySeconds, importSeconds, accounts, bytes, bytesRead, peakBytes, cpuSeconds, rows } = result;
  const seconds = verifySeconds + importSeconds;
  const detected = rows.jetton_wallets! + rows.jetton_masters! + rows.nft_items! + rows.nft_collections!;
  const figures: [string, string][] = [
    ['accounts', whole.format(accounts)],
    ['cells', whole.format(state.cells)],
    ['file, bytes per account', whole.format(bytes / accounts)],
    ['accounts per second, verification included', whole.format(accounts / seconds)],
    ['accounts per second, import alone', whole.format(accounts / importSeconds)],
    ['cells verified per second', whole.format(state.cells / verifySeconds)],
    ['highest resident memory, MiB', whole.format(peakBytes / MIB)],
    ['CPU seconds of the process per second', rounded.format(cpuSeconds / seconds)],
    ['each byte of the files read, times', rounded.format(1 + bytesRead / bytes)],
    ['contracts detected natively', whole.format(detected)],
    ['contracts left for the TVM', whole.format(rows.contract_queue!)],
    ['database, bytes per account', whole.format(rows.database_bytes! / accounts)],
  ];
  const scale = MAINNET.accounts / accounts;
  const mainnet: [string, string][] = [
    ['verification, hours', rounded.format((verifySeconds * MAINNET.cells) / state.cells / 3600)],
    ['import, hours', rounded.format((importSeconds * scale) / 3600)],
    ['state files, GB', whole.format((bytes * scale) / 1e9)],
    ['database, GB', whole.format((rows.database_bytes! * scale) / 1e9)],
    ['scratch file at most (16 parts, 2 at a time), GB', rounded.format((34 * MAINNET.cells * 2) / 16 / 1e9)],
  ];
  return [
    { title: 'import of a synthetic basechain state', head: ['figure', 'value'], rows: figures },
    {
      title: 'its accounts',
      head: ['kind', 'number'],
      rows: Object.entries(state.mix).map(([kind, n]) => [kind, whole.format(n)]),
    },
    {
      title: 'by proportion, the basechain of mainnet (200 M accounts, 10^9 cells)',
      head: ['figure', 'value'],
      rows: mainnet,
    },
  ];
}

export const suite: BenchSuite = {
  name: 'state',
  cases: () => [],
  tables: (size) => measure(size ?? ACCOUNTS),
};
