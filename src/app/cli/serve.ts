import { Command } from 'commander';
import {
  addSettings,
  type CliEnvironment,
  metadataOptions,
  openCommandLog,
  runUntilSignal,
  systemEnvironment,
} from '#app/cli/environment.js';
import { packageVersion } from '#app/cli/package.js';
import { assignDatabases, type NetworkDatabase } from '#app/config/index-settings.js';
import { assignListeners } from '#app/config/listeners.js';
import {
  download,
  loadConfig,
  loadGroups,
  loadNetworks,
  type NamedNetwork,
  usualHeadAgeMs,
} from '#app/config/networks.js';
import { type GivenSettings, readSettings, unknownVariables } from '#app/config/setting.js';
import { type ServeSettings, serveSettings } from '#app/config/settings.js';
import { type Closers, type Environment, prepareDataFolder, withClosers } from '#app/service/environment.js';
import type { IndexPlan, RunningService } from '#app/service/service.js';
import type { ClosableLogger } from '#app/telemetry/pino-logger.js';

/** `tern serve`: serves the API of networks in production. Runs until interrupted. */
export function serveCommand(environment: CliEnvironment): Command {
  const command = new Command('serve')
    .description('serve the HTTP API of TON networks: v2 from liteservers, v3 from an index in PostgreSQL')
    .action(async (flags: GivenSettings['flags']) => {
      const { values } = readSettings(serveSettings, { flags, environment });
      const logger = openCommandLog(values);
      try {
        for (const variable of unknownVariables(serveSettings, environment)) {
          logger.info('unknown environment variable is ignored', { variable });
        }
        await runUntilSignal(
          environment,
          () => startServe(values, logger),
          ({ servers, coverage }) => {
            const covered = Object.entries(coverage()).map(([name, text]) => `${name}: ${text}`);
            const urls = servers.map(({ url }) => url).join();
            logger.info('ready for requests', covered.length === 0 ? { urls } : { urls, coverage: covered.join(', ') });
          },
        );
        logger.info('ended');
      } finally {
        await logger.close();
      }
    });
  return addSettings(command, serveSettings);
}

async function startServe(settings: ServeSettings, logger: ClosableLogger): Promise<RunningService> {
  const networks = await loadNetworks(settings.network, { download });
  const groups = await loadGroups(settings.liteserverGroup, { download });
  const names = networks.map(({ name }) => name);
  const listeners = assignListeners(names, settings);
  const assigned = assignDatabases(names, settings);
  const environment = systemEnvironment(logger);
  await prepareDataFolder(settings.data);
  return withClosers(async (closers) => {
    const isEmbedded = settings.database === 'embedded';
    const databases = isEmbedded ? await embeddedDatabases(networks, settings.data, environment, closers) : assigned;
    const indexes = await indexesOf(networks, databases, settings, environment);
    // One truth for all processes: that of the first network with a database. The embedded one has one process, and no URL that
    // `tern keys` could use.
    const first = names.map((name) => databases.get(name)).find((each) => each !== undefined);
    // Loaded on demand: this halves the startup time of other commands.
    const { startService } = await import('#app/service/service.js');
    const service = await startService(
      {
        ...{ version: packageVersion(), networks, groups, listeners, hostOf: settings.hostOf, indexes, settings },
        explorerAt: '/explorer',
        accessDatabase: isEmbedded ? null : (first?.url ?? null),
        headAges: new Map(await Promise.all(networks.map(headAgeOf))),
        keepsKeyBlocks: true,
        readConfig: (source) => loadConfig(source, { download }),
      },
      environment,
    );
    closers.add(() => service.close());
    return { ...service, close: () => closers.close() };
  });
}

/** A database for each network in the embedded PostgreSQL, which is started in the data folder. @throws store/embedded-* */
async function embeddedDatabases(
  networks: readonly NamedNetwork[],
  folder: string,
  environment: Environment,
  closers: Closers,
): Promise<ReadonlyMap<string, NetworkDatabase>> {
  const { databaseNameOf, startEmbeddedDatabase } = await import('#app/service/embedded-database.js');
  const server = await startEmbeddedDatabase(folder, {}, environment);
  closers.add(() => server.close());
  const databases = new Map<string, NetworkDatabase>();
  for (const { name, config } of networks) {
    const url = await server.ensureDatabase(databaseNameOf(config.zeroState, config.incarnation));
    databases.set(name, { url, readUrl: null });
  }
  return databases;
}

async function headAgeOf({ name, config }: NamedNetwork): Promise<[network: string, ms: number]> {
  return [name, await usualHeadAgeMs(config)];
}

async function indexesOf(
  networks: readonly NamedNetwork[],
  databases: ReadonlyMap<string, NetworkDatabase>,
  settings: ServeSettings,
  environment: Environment,
): Promise<ReadonlyMap<string, IndexPlan>> {
  const { role, from, keep, indexWorkers, databaseConnections, apiWorkers, textCacheMb, queryTimeout } = settings;
  const lookUps = { mostPerRequest: settings.lookUps, concurrency: settings.lookUpConcurrency };
  // Loaded on demand: this halves the startup time of other commands.
  const { selectedAccounts } = await import('#app/service/selected-accounts.js');
  const indexes = new Map<string, IndexPlan>();
  for (const network of networks) {
    const database = databases.get(network.name);
    if (database === undefined) continue;
    const source = { network, dataFolder: settings.data };
    const accounts = await selectedAccounts(settings.accounts, source, environment);
    indexes.set(network.name, {
      ...{ database, role, from, keepMs: keep, accounts, workers: indexWorkers },
      ...{ connections: databaseConnections, queryTimeoutMs: queryTimeout, metadata: metadataOptions(settings) },
      ...{ dnsRoots: settings.dnsRoot, apiWorkers, textCacheMb, lookUps },
    });
  }
  return indexes;
}
