import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type EmbeddedServer, startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import { ReplayProcess } from '../../test/support/replay-process.js';
import { vectorPath } from '../../test/support/vector-files.js';
import type { ReportTable } from '../report.js';
import type { ActionsJob, ActionsResult } from './index-process.js';

const PACE = '2.5';
const FOLLOW_SECONDS = 60;
const DELAY_TARGET_MS = 100;

/** What actions cost while a chain is filled, and how late they are while it is followed. */
export async function actionsOfAnIndex(): Promise<ReportTable[]> {
  const chain = vectorPath('collection/recorded-net/chain');
  const scratch = mkdtempSync(join(tmpdir(), 'tern-bench-'));
  // The database runs as another user, who may not enter the scratch folder.
  const folder = mkdtempSync(join(tmpdir(), 'tern-bench-postgres-'));
  const server = await startEmbeddedServer({ folder }, { clock: systemClock });
  try {
    const off = await run(server, { chain, scratch, followSeconds: null, withActions: false });
    const on = await run(server, { chain, scratch, followSeconds: null, withActions: true });
    const followed = await run(server, { chain, scratch, followSeconds: FOLLOW_SECONDS, withActions: true });
    return [fillTable(off, on), followTable(followed)];
  } finally {
    await server.close();
    for (const each of [scratch, folder]) rmSync(each, { recursive: true, force: true });
  }
}

interface Run extends Pick<ActionsJob, 'followSeconds' | 'withActions'> {
  readonly chain: string;
  readonly scratch: string;
}

async function run(
  server: EmbeddedServer,
  { chain, scratch, followSeconds, withActions }: Run,
): Promise<ActionsResult> {
  const name = `actions_${followSeconds === null ? 'fill' : 'follow'}_${withActions ? 'on' : 'off'}`;
  process.stderr.write(`bench: actions: ${name.replaceAll('_', ' ')} …\n`);
  const config = join(scratch, `${name}.config.json`);
  const replay = await ReplayProcess.start(chain, config, followSeconds === null ? [] : ['--pace', PACE]);
  try {
    const dataFolder = join(scratch, name);
    mkdirSync(dataFolder);
    const url = await server.ensureDatabase(name);
    const job: ActionsJob = { config, url, dataFolder, followSeconds, withActions };
    const entry = fileURLToPath(new URL('./index-process.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', entry, JSON.stringify(job)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    for await (const part of child.stdout) out += part;
    return JSON.parse(out) as ActionsResult;
  } finally {
    await replay.close();
  }
}

function fillTable(off: ActionsResult, on: ActionsResult): ReportTable {
  const row = (name: string, { transactions, actions, ms }: ActionsResult): string[] => [
    ...[name, String(transactions), String(actions), (ms / 1000).toFixed(1)],
    ((transactions * 1000) / ms).toFixed(0),
  ];
  return {
    title: `filling an index of the recorded network, contracts detected; with actions in ${(on.ms / off.ms).toFixed(2)} times the time`,
    head: ['', 'transactions', 'actions', 'seconds', 'transactions/s'],
    rows: [row('without actions', off), row('with actions', on)],
  };
}

function followTable({ transactions, actions, delays }: ActionsResult): ReportTable {
  const { blocks, p50, p99, max, start } = delays!;
  return {
    title: `following at ${PACE} masterchain blocks a second: milliseconds from the commit of a block until all traces that end in it have actions`,
    head: ['mc blocks', 'transactions', 'actions', 'p50', 'p99', 'max', 'max in the first 3 s', 'target'],
    rows: [
      [
        ...[blocks, transactions, actions].map(String),
        ...[p50, p99, max, start].map((ms) => ms.toFixed(0)),
        `p99 ${DELAY_TARGET_MS} ms ${p99 <= DELAY_TARGET_MS ? 'met' : 'missed'}`,
      ],
    ],
  };
}
