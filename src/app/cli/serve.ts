import { Command } from 'commander';
import {
  addSettings,
  type CliEnvironment,
  metadataOptions,
  openCommandLog,
  packageVersion,
  runUntilSignal,
  systemEnvironment,
} from '#app/cli/environment.js';
import { assignDatabases, loadAccounts } from '#app/config/index-settings.js';
import { assignListeners } from '#app/config/listeners.js';
import { download, loadConfig, loadGroups, loadNetworks } from '#app/config/networks.js';
import { type GivenSettings, readSettings, unknownVariables } from '#app/config/setting.js';
import { type ServeSettings, serveSettings } from '#app/config/settings.js';
import { prepareDataFolder } from '#app/service/environment.js';
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
  const indexes = await indexesOf(names, settings);
  await prepareDataFolder(settings.data);
  const { hostOf } = settings;
  // Loaded on demand: this halves the startup time of other commands.
  const { startService } = await import('#app/service/service.js');
  return startService(
    {
      ...{ version: packageVersion(), networks, groups, listeners, hostOf, indexes, settings },
      keepsKeyBlocks: true,
      readConfig: (source) => loadConfig(source, { download }),
    },
    systemEnvironment(logger),
  );
}

async function indexesOf(
  networks: readonly string[],
  settings: ServeSettings,
): Promise<ReadonlyMap<string, IndexPlan>> {
  const { role, from, keep, indexWorkers, databaseConnections, apiWorkers, textCacheMb, queryTimeout } = settings;
  const lookUps = { mostPerRequest: settings.lookUps, concurrency: settings.lookUpConcurrency };
  const databases = assignDatabases(networks, settings);
  const accounts = settings.accounts === null ? null : await loadAccounts(settings.accounts);
  return new Map(
    [...databases].map(([name, database]) => [
      name,
      {
        ...{ database, role, from, keepMs: keep, accounts, workers: indexWorkers },
        ...{ connections: databaseConnections, queryTimeoutMs: queryTimeout, metadata: metadataOptions(settings) },
        ...{ dnsRoots: settings.dnsRoot, apiWorkers, textCacheMb, lookUps },
      },
    ]),
  );
}
