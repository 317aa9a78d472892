import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { devPage } from '#app/cli/dev-page.js';
import type { Environment } from '#app/cli/environment.js';
import { metadataOptions } from '#app/cli/metadata-options.js';
import { packageVersion } from '#app/cli/package-version.js';
import { runUntilSignal } from '#app/cli/run-until-signal.js';
import { addSettings } from '#app/cli/settings-options.js';
import { realSurroundings } from '#app/cli/surroundings.js';
import type { NetworkDatabase } from '#app/config/databases.js';
import type { NamedNetwork } from '#app/config/networks.js';
import { type GivenSettings, readSettings } from '#app/config/read-settings.js';
import { type DevSettings, devSettings } from '#app/config/settings.js';
import { startTogether } from '#app/service/closers.js';
import { prepareDataFolder } from '#app/service/data-folder.js';
import type { IndexPlan } from '#app/service/served-network.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { pinoLogger } from '#app/telemetry/pino-logger.js';
import type { EmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { storeErrors } from '#drivers/store/errors.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';

const STANDARD_ERROR = 2;

/** The recorded chain that comes with Tern. */
const OWN_CHAIN = fileURLToPath(new URL('../../../data/dev-chain', import.meta.url));

/** What the chain is called in metrics and the log. */
const NETWORK = 'dev';

/** Why there is no index when none is wanted. */
const OFF = '--index off';

/** Reasons for which the database that comes with Tern cannot run on a system at all. */
const CANNOT_RUN: ReadonlySet<string> = new Set([
  storeErrors['embedded-program'].code,
  storeErrors['embedded-user'].code,
]);

/** `tern dev`: the API of a recorded chain, for development. Needs no internet. Runs until it is interrupted. */
export function devCommand(environment: Environment): Command {
  const command = new Command('dev')
    .description('serve the HTTP API of a recorded chain, which needs no internet; npm start does this')
    .action(async (flags: GivenSettings['flags'], self: Command) => {
      const { writeOut = (text: string) => void process.stdout.write(text) } = self.configureOutput();
      const { values } = readSettings(devSettings, { flags, environment });
      const logger = pinoLogger({ level: values.logLevel, to: STANDARD_ERROR });
      try {
        await runUntilSignal(
          () => startDev(values, logger),
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
  close(): Promise<void>;
}

function startDev(settings: DevSettings, logger: Logger): Promise<RunningDev> {
  return startTogether(async (closers) => {
    const surroundings = realSurroundings(logger);
    const version = packageVersion();
    const { host, port } = settings;
    await prepareDataFolder(settings.data);
    const folder = settings.replay ?? OWN_CHAIN;
    const server = wantsServer(settings) ? startServer(settings.data, surroundings) : null;
    server?.catch(() => {});
    closers.add(async () => (await server?.catch(() => null))?.close());
    // Loaded when they are needed: other commands start in half the time without them.
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
        indexes: new Map([[NETWORK, indexOf(settings, server, replayed.network)]]),
        keepsKeyBlocks: false,
        settings,
      },
      surroundings,
    );
    closers.add(() => service.close());
    const withoutIndex = settings.index === 'off' ? OFF : await service.opened.then(() => null, reasonOf);
    const [http] = service.servers;
    const { lastSeqno, lastTime } = replayed;
    const isOwnChain = settings.replay === null;
    const page = devPage({ version, url: http!.url, lastSeqno, lastTime, isOwnChain, withoutIndex });
    return { page, close: () => closers.close() };
  });
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
  { config }: NamedNetwork,
): IndexPlan | string {
  if (settings.index === 'off') return OFF;
  const { databaseUrl, indexWorkers, databaseConnections, queryTimeout } = settings;
  return {
    database: server === null ? { url: databaseUrl!.url, readUrl: null } : databaseIn(server, config.zeroState),
    role: 'all',
    ...{ from: null, keepMs: null, accounts: null },
    workers: indexWorkers,
    connections: databaseConnections,
    queryTimeoutMs: queryTimeout,
    metadata: metadataOptions(settings),
    dnsRoots: settings.dnsRoot,
  };
}

async function databaseIn(server: Promise<EmbeddedServer>, zerostate: BlockId): Promise<NetworkDatabase> {
  const { databaseOfChain } = await import('#app/service/own-database.js');
  return { url: await (await server).ensureDatabase(databaseOfChain(zerostate)), readUrl: null };
}
