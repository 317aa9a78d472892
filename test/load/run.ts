// npm run -s load -- connections|limits|localnet|streams [--seconds N] [--connections N] [--rate N]: a running Tern under load, on
// this machine only; localnet also takes --batch N, streams also takes --resumes N and --kills N. npm run -s load -- worst|single …:
// under attack, see README.md.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { endWithChildren } from '#test/support/end-with-children.js';
import { ReplayProcess } from '#test/support/replay-process.js';
import { vectorPath } from '#test/support/vector-files.js';
import { loadConnections } from './connections.js';
import { loadLimits } from './limits.js';
import { loadLocalnet } from './localnet.js';
import { loadStreams } from './streams.js';
import { loadSingle, readSingleArguments } from './worst/single.js';
import { loadWorst } from './worst/worst.js';
import { readWorstArguments } from './worst/worst-arguments.js';

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

/** Says what it saw, and whether that is as it should be. */
type Campaign = (ground: Ground) => Promise<boolean>;

const campaigns: Readonly<Record<string, Campaign>> = {
  connections: loadConnections,
  limits: loadLimits,
};

/** The campaign on a network that lives, and not on a recorded chain. */
const LOCALNET = 'localnet' as const;
const STREAMS = 'streams' as const;

/** The campaigns with arguments of their own. */
const WORST = 'worst';
const SINGLE = 'single';

const MOST_SECONDS = 3_600;
const MOST_CONNECTIONS = 10_000;
const MOST_RATE = 10_000;
const MOST_BATCH = 100;

function readArguments() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '60' },
      connections: { type: 'string', default: '1000' },
      rate: { type: 'string', default: '100' },
      resumes: { type: 'string', default: '0' },
      kills: { type: 'string', default: '0' },
      apart: { type: 'boolean', default: false },
      batch: { type: 'string', default: '1' },
    },
  });
  const [name, ...more] = positionals;
  const campaign: Campaign | typeof LOCALNET | typeof STREAMS | undefined =
    name === LOCALNET || name === STREAMS ? name : campaigns[name ?? ''];
  const seconds = Number(values.seconds);
  const connections = Number(values.connections);
  const rate = Number(values.rate);
  if (campaign === undefined || more.length > 0)
    throw new TypeError(`wanted is one of ${[...Object.keys(campaigns), LOCALNET, STREAMS, WORST, SINGLE].join(', ')}`);
  if (!(seconds >= 1 && seconds <= MOST_SECONDS)) throw new TypeError(`--seconds is 1 to ${MOST_SECONDS}`);
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= MOST_CONNECTIONS)) {
    throw new TypeError(`--connections is 1 to ${MOST_CONNECTIONS}`);
  }
  if (!(rate >= 1 && rate <= MOST_RATE)) throw new TypeError(`--rate is 1 to ${MOST_RATE}`);
  const batch = Number(values.batch);
  if (!(Number.isInteger(batch) && batch >= 1 && batch <= MOST_BATCH))
    throw new TypeError(`--batch is 1 to ${MOST_BATCH}`);
  const [resumes, kills] = [Number(values.resumes), Number(values.kills)];
  if (!(Number.isInteger(resumes) && resumes >= 0 && resumes <= MOST_CONNECTIONS)) {
    throw new TypeError(`--resumes is 0 to ${MOST_CONNECTIONS}`);
  }
  if (!(Number.isInteger(kills) && kills >= 0 && kills <= 1_000)) throw new TypeError('--kills is 0 to 1000');
  return { campaign, seconds, connections, rate, batch, resumes, kills, isApart: values.apart };
}

/** A campaign with its arguments: what it is to do in an empty folder. */
type Prepared = (scratch: string, write: (line: string) => void) => Promise<boolean>;

/** @throws TypeError that says which argument is wrong */
function prepare(): Prepared {
  if (process.argv[2] === WORST) {
    const worst = readWorstArguments(process.argv.slice(3));
    return (scratch, write) => loadWorst(worst, scratch, write);
  }
  if (process.argv[2] === SINGLE) {
    const single = readSingleArguments(process.argv.slice(3));
    return (scratch, write) => loadSingle(single, scratch, write);
  }
  const { campaign, seconds, connections, rate, batch, resumes, kills, isApart } = readArguments();
  return (scratch, write) => {
    const data = join(scratch, 'data');
    if (campaign === STREAMS) return loadStreams({ data, seconds, rate, connections, resumes, kills, isApart, write });
    return campaign === LOCALNET
      ? loadLocalnet({ data, seconds, rate, batch, write })
      : onRecordedChain((ground) => campaign({ ...ground, data, seconds, connections, write }), scratch);
  };
}

let run: Prepared | null = null;
try {
  run = prepare();
} catch (error) {
  process.stderr.write(`load: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
if (run !== null) {
  const scratch = mkdtempSync(join(tmpdir(), 'tern-load-'));
  // A database that root starts runs as another user, who has to get there.
  chmodSync(scratch, 0o755);
  const clean = () => rmSync(scratch, { recursive: true, force: true });
  endWithChildren(clean);
  try {
    const held = await run(scratch, (line) => void process.stdout.write(`${line}\n`));
    process.stderr.write(held ? 'load: all as it should be\n' : 'load: NOT as it should be\n');
    if (!held) process.exitCode = 1;
  } finally {
    clean();
  }
}

async function onRecordedChain(
  run: (ground: Pick<Ground, 'folder' | 'config'>) => Promise<boolean>,
  scratch: string,
): Promise<boolean> {
  const folder = vectorPath('collection/recorded-net/chain');
  const config = join(scratch, 'global.config.json');
  const replay = await ReplayProcess.start(folder, config);
  try {
    return await run({ folder, config });
  } finally {
    await replay.close();
  }
}
