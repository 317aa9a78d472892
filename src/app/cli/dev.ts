import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { devPage } from '#app/cli/dev-page.js';
import type { Environment } from '#app/cli/environment.js';
import { packageVersion } from '#app/cli/package-version.js';
import { runUntilSignal } from '#app/cli/run-until-signal.js';
import { addSettings } from '#app/cli/settings-options.js';
import { realSurroundings } from '#app/cli/surroundings.js';
import type { NamedNetwork } from '#app/config/networks.js';
import { type GivenSettings, readSettings } from '#app/config/read-settings.js';
import { type DevSettings, devSettings } from '#app/config/settings.js';
import { startTogether } from '#app/service/closers.js';
import { prepareDataFolder } from '#app/service/data-folder.js';
import type { IndexPlan } from '#app/service/served-network.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { pinoLogger } from '#app/telemetry/pino-logger.js';
import type { EmbeddedServer } from '#drivers/store/embedded-server.js';
import { storeErrors } from '#drivers/store/errors.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';

const STANDARD_ERROR = 2;

/** The recorded chain that comes with Tern. */
const OWN_CHAIN = fileURLToPath(new URL('../../../data/dev-chain', import.meta.url));

/** What the chain is called in metrics and the log. */
const NETWORK = 'dev';

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
    const server = startServer(settings, surroundings);
    server.catch(() => {});
    closers.add(async () => {
      const started = await server.catch(() => null);
      if (started !== null && typeof started !== 'string') await started.close();
    });
    // Loaded when they are needed: other commands start in half the time without them.
    const { startReplayedNetwork } = await import('#app/service/replayed-network.js');
    const { startService } = await import('#app/service/start-service.js');
    const replayed = await startReplayedNetwork({ name: NETWORK, folder }, surroundings);
    closers.add(() => replayed.close());
    const index = await indexOf(settings, await server, replayed.network);
    const service = await startService(
      {
        version,
        networks: [replayed.network],
        groups: [],
        listeners: [{ address: { host, port }, networks: [NETWORK] }],
        hostOf: [],
        indexes: new Map([[NETWORK, index]]),
        keepsKeyBlocks: false,
        settings,
      },
      surroundings,
    );
    closers.add(() => service.close());
    const [http] = service.servers;
    const { lastSeqno, lastTime } = replayed;
    const page = devPage({
      ...{ version, url: http!.url, lastSeqno, lastTime },
      isOwnChain: settings.replay === null,
      withoutIndex: typeof index === 'string' ? index : null,
    });
    return { page, close: () => closers.close() };
  });
}

/** Starts the database that comes with Tern, if that is wanted; where it cannot run, says why. */
async function startServer(settings: DevSettings, surroundings: Surroundings): Promise<EmbeddedServer | string | null> {
  if (settings.index === 'off') return '--index off';
  if (settings.databaseUrl !== null) return null;
  const { startOwnDatabase } = await import('#app/service/own-database.js');
  try {
    return await startOwnDatabase(settings.data, surroundings);
  } catch (error) {
    // `tern dev` is of use without it, on a system for which there is no PostgreSQL.
    if (!isTernError(error) || !CANNOT_RUN.has(error.code)) throw error;
    return `${error.message}. ${error.remedy}`;
  }
}

/** The index of the chain, or why there is none. */
async function indexOf(
  settings: DevSettings,
  server: EmbeddedServer | string | null,
  { config }: NamedNetwork,
): Promise<IndexPlan | string> {
  if (typeof server === 'string') return server;
  const { databaseOfChain } = await import('#app/service/own-database.js');
  const url = settings.databaseUrl?.url ?? (await server!.ensureDatabase(databaseOfChain(config.zeroState)));
  const { indexWorkers, databaseConnections, queryTimeout } = settings;
  return {
    database: { url, readUrl: null },
    role: 'all',
    ...{ from: null, keepMs: null, accounts: null },
    workers: indexWorkers,
    connections: databaseConnections,
    queryTimeoutMs: queryTimeout,
  };
}
