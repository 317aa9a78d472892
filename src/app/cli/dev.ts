import { join } from 'node:path';
import process from 'node:process';
import { Command } from 'commander';
import { devPage } from '#app/cli/dev-page.js';
import type { Environment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { localPage } from '#app/cli/local-page.js';
import { metadataOptions } from '#app/cli/metadata-options.js';
import { packageVersion } from '#app/cli/package-version.js';
import { runUntilSignal } from '#app/cli/run-until-signal.js';
import { addSettings } from '#app/cli/settings-options.js';
import { realSurroundings } from '#app/cli/surroundings.js';
import type { NetworkDatabase } from '#app/config/databases.js';
import { type GivenSettings, readSettings } from '#app/config/read-settings.js';
import { type DevSettings, devSettings } from '#app/config/settings.js';
import { type Closers, startTogether } from '#app/service/closers.js';
import { prepareDataFolder } from '#app/service/data-folder.js';
import type { IndexPlan } from '#app/service/served-network.js';
import type { RunningService } from '#app/service/start-service.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { pinoLogger } from '#app/telemetry/pino-logger.js';
import type { EmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { storeErrors } from '#drivers/store/errors.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';

const STANDARD_ERROR = 2;

/** Between blocks made on demand there is no time; while one of them makes others, there is this. */
const USUAL_BLOCK_TIME_MS = 400;

/** What the chain is called in metrics and the log. */
const NETWORK = 'dev';

/** Why there is no index when none is wanted. */
const OFF = '--index off';

/** What is to be done to the chain in the folder before it is gone on with. */
interface ChainChange {
  readonly reset: boolean;
  readonly snapshot: string | null;
}

type DevFlags = Omit<GivenSettings['flags'], 'reset' | 'snapshot'> & {
  readonly reset?: boolean;
  readonly snapshot?: string | null;
};

/** Reasons for which the database that comes with Tern cannot run on a system at all. */
const CANNOT_RUN: ReadonlySet<string> = new Set([
  storeErrors['embedded-program'].code,
  storeErrors['embedded-user'].code,
]);

/** `tern dev`: a network for development with all APIs: a local one, or a recorded chain. Needs no internet. Runs until it is interrupted. */
export function devCommand(environment: Environment): Command {
  const command = new Command('dev')
    .description('run a local TON network with all APIs, or serve a recorded chain; npm start does this')
    .option('--reset', 'begin a new chain: the one that is there is lost, its snapshots stay')
    .option('--snapshot <name>', 'go on from a snapshot: the chain that is there is lost')
    .action(async ({ reset = false, snapshot = null, ...flags }: DevFlags, self: Command) => {
      if (reset && snapshot !== null) {
        throw cliErrors.usage({
          problem: '--reset begins a new chain, and --snapshot goes on from one: give one of them',
        });
      }
      const { writeOut = (text: string) => void process.stdout.write(text) } = self.configureOutput();
      const { values } = readSettings(devSettings, { flags, environment });
      const logger = pinoLogger({ level: values.logLevel, to: STANDARD_ERROR });
      try {
        await runUntilSignal(
          () => startDev(values, { reset, snapshot }, logger),
          ({ page }) => writeOut(page),
        );
      } finally {
        await logger.close();
      }
    });
  return addSettings(command, devSettings);
}

interface RunningDev {
  /** What people read who have started it. */
  readonly page: string;
  /** Rejects when it ends by itself. */
  readonly ended?: Promise<void>;
  close(): Promise<void>;
}

/** Everything that both kinds of chains need. */
interface DevParts {
  readonly settings: DevSettings;
  readonly surroundings: Surroundings;
  readonly closers: Closers;
  /** The database that comes with Tern, while it starts; `null` when another one is used, or none. */
  readonly server: Promise<EmbeddedServer> | null;
}

function startDev(settings: DevSettings, change: ChainChange, logger: Logger): Promise<RunningDev> {
  return startTogether(async (closers) => {
    const surroundings = realSurroundings(logger);
    await prepareDataFolder(settings.data);
    const server = wantsServer(settings) ? startServer(settings.data, surroundings) : null;
    server?.catch(() => {});
    closers.add(async () => (await server?.catch(() => null))?.close());
    const parts: DevParts = { settings, surroundings, closers, server };
    return settings.replay === null ? startLocal(parts, change) : startReplayed(parts, settings.replay);
  });
}

/** A network that lives here, and goes on where it ended. */
async function startLocal(
  { settings, surroundings, closers, server }: DevParts,
  { reset, snapshot }: ChainChange,
): Promise<RunningDev> {
  const version = packageVersion();
  const folder = join(settings.data, 'localnet');
  // Loaded when they are needed: other commands start in half the time without them.
  const { startLocalService } = await import('#app/service/local-service.js');
  const { hasChain, resetChain, restoreSnapshot } = await import('#localnet/ledger/snapshots.js');
  if (reset) resetChain(folder);
  if (snapshot !== null) restoreSnapshot(folder, snapshot);
  const isContinued = hasChain(folder);
  const { host, port, blockTime } = settings;
  const paused = blockTime === 0;
  const blockTimeMs = paused ? USUAL_BLOCK_TIME_MS : blockTime;
  const local = await startLocalService(
    {
      ...{ name: NETWORK, version, folder, blockTimeMs, paused, settings },
      liteserverPort: settings.liteserverPort,
      signatures: settings.signatures,
      listen: { host, port },
      fork: settings.fork,
      indexOf: ({ zerostate, incarnation }) => indexOf(settings, server, zerostate, incarnation),
    },
    surroundings,
  );
  closers.add(() => local.close());
  const { service, local: network, url } = local.parts();
  const withoutIndex = await withoutIndexOf(settings, service);
  const { head, fork } = await network.node.status();
  const page = localPage({
    ...{ version, url, isContinued, blockTimeMs, paused, withoutIndex },
    headSeqno: head.seqno,
    fork: fork === null ? null : `${fork.source} at masterchain block ${fork.block.seqno}`,
    wallets: await network.node.wallets(),
    configFile: network.configFile,
  });
  return { page, ended: local.ended, close: () => closers.close() };
}

/** A recorded chain. */
async function startReplayed(
  { settings, surroundings, closers, server }: DevParts,
  folder: string,
): Promise<RunningDev> {
  const version = packageVersion();
  const { host, port } = settings;
  const { startReplayedNetwork } = await import('#app/service/replayed-network.js');
  const { startService } = await import('#app/service/start-service.js');
  const replayed = await startReplayedNetwork({ name: NETWORK, folder }, surroundings);
  closers.add(() => replayed.close());
  const service = await startService(
    {
      version,
      networks: [replayed.network],
      groups: [],
      listeners: [{ address: { host, port }, networks: [NETWORK] }],
      hostOf: [],
      indexes: new Map([[NETWORK, indexOf(settings, server, replayed.network.config.zeroState, null)]]),
      keepsKeyBlocks: false,
      settings,
    },
    surroundings,
  );
  closers.add(() => service.close());
  const withoutIndex = await withoutIndexOf(settings, service);
  const [http] = service.servers;
  const { lastSeqno, lastTime } = replayed;
  const page = devPage({ version, url: http!.url, lastSeqno, lastTime, withoutIndex });
  return { page, close: () => closers.close() };
}

/** Why API v3 is not there; null when it is. */
async function withoutIndexOf({ index }: DevSettings, service: RunningService): Promise<string | null> {
  return index === 'off' ? OFF : service.opened.then(() => null, reasonOf);
}

function wantsServer({ index, databaseUrl }: DevSettings): boolean {
  return index === 'on' && databaseUrl === null;
}

async function startServer(folder: string, surroundings: Surroundings): Promise<EmbeddedServer> {
  const { startOwnDatabase } = await import('#app/service/own-database.js');
  return startOwnDatabase(folder, surroundings);
}

/** Why there is no database: `tern dev` is of use without one, on a system for which there is no PostgreSQL. */
function reasonOf(error: unknown): string {
  if (isTernError(error) && CANNOT_RUN.has(error.code)) return `${error.message}. ${error.remedy}`;
  throw error;
}

/** The index of the chain, or why there is none. */
function indexOf(
  settings: DevSettings,
  server: Promise<EmbeddedServer> | null,
  zerostate: BlockId,
  incarnation: string | null,
): IndexPlan | string {
  if (settings.index === 'off') return OFF;
  const { databaseUrl, indexWorkers, databaseConnections, queryTimeout } = settings;
  return {
    database: server === null ? { url: databaseUrl!.url, readUrl: null } : databaseIn(server, zerostate, incarnation),
    role: 'all',
    ...{ from: null, keepMs: null, accounts: null },
    workers: indexWorkers,
    connections: databaseConnections,
    queryTimeoutMs: queryTimeout,
    metadata: metadataOptions(settings),
    dnsRoots: settings.dnsRoot,
  };
}

async function databaseIn(
  server: Promise<EmbeddedServer>,
  zerostate: BlockId,
  incarnation: string | null,
): Promise<NetworkDatabase> {
  const { databaseOfChain } = await import('#app/service/own-database.js');
  return { url: await (await server).ensureDatabase(databaseOfChain(zerostate, incarnation)), readUrl: null };
}
