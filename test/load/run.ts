// npm run -s load -- connections|limits [--seconds N] [--connections N]: a running Tern under load, on this machine only.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ReplayProcess } from '#test/support/replay-process.js';
import { sharedData, vectorPath } from '#test/support/shared-data.js';
import { loadConnections } from './connections.js';
import { loadLimits } from './limits.js';

/** What a campaign works with. */
export interface Ground {
  /** The recorded chain that is served. */
  readonly folder: string;
  /** Its global configuration: the liteserver runs. */
  readonly config: string;
  /** A folder for what Tern keeps. */
  readonly data: string;
  readonly seconds: number;
  readonly connections: number;
  readonly write: (line: string) => void;
}

/** Each says what it saw, and whether that is as it should be. */
const campaigns: Readonly<Record<string, (ground: Ground) => Promise<boolean>>> = {
  connections: loadConnections,
  limits: loadLimits,
};

const MOST_SECONDS = 3_600;
const MOST_CONNECTIONS = 10_000;

function readArguments() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '60' },
      connections: { type: 'string', default: '1000' },
    },
  });
  const [name, ...more] = positionals;
  const campaign = name === undefined ? undefined : campaigns[name];
  const seconds = Number(values.seconds);
  const connections = Number(values.connections);
  if (campaign === undefined || more.length > 0)
    throw new TypeError(`wanted is one of ${Object.keys(campaigns).join(', ')}`);
  if (!(seconds >= 1 && seconds <= MOST_SECONDS)) throw new TypeError(`--seconds is 1 to ${MOST_SECONDS}`);
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= MOST_CONNECTIONS)) {
    throw new TypeError(`--connections is 1 to ${MOST_CONNECTIONS}`);
  }
  return { campaign, seconds, connections };
}

let given: ReturnType<typeof readArguments> | null = null;
try {
  given = readArguments();
} catch (error) {
  process.stderr.write(`load: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
if (given !== null) {
  const { campaign, seconds, connections } = given;
  const network = sharedData('recorded-net/chain');
  const folder = network ?? vectorPath('recorded-chain');
  const scratch = mkdtempSync(join(tmpdir(), 'tern-load-'));
  const config = join(scratch, 'global.config.json');
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const replay = await ReplayProcess.start(folder, config);
  try {
    const held = await campaign({ folder, config, data: join(scratch, 'data'), seconds, connections, write });
    write(held ? 'load: all as it should be' : 'load: NOT as it should be');
    if (!held) process.exitCode = 1;
  } finally {
    await replay.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}
