import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { devPage } from '#app/cli/dev-page.js';
import type { Environment } from '#app/cli/environment.js';
import { packageVersion } from '#app/cli/package-version.js';
import { runUntilSignal } from '#app/cli/run-until-signal.js';
import { addSettings } from '#app/cli/settings-options.js';
import { realSurroundings } from '#app/cli/surroundings.js';
import { type GivenSettings, readSettings } from '#app/config/read-settings.js';
import { type DevSettings, devSettings } from '#app/config/settings.js';
import { startTogether } from '#app/service/closers.js';
import { prepareDataFolder } from '#app/service/data-folder.js';
import { pinoLogger } from '#app/telemetry/pino-logger.js';
import type { Logger } from '#kernel/observe/logger.js';

const STANDARD_ERROR = 2;

/** The recorded chain that comes with Tern. */
const OWN_CHAIN = fileURLToPath(new URL('../../../data/dev-chain', import.meta.url));

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
    // Loaded when they are needed: other commands start in half the time without them.
    const { startReplayedNetwork } = await import('#app/service/replayed-network.js');
    const { startService } = await import('#app/service/start-service.js');
    const surroundings = realSurroundings(logger);
    const version = packageVersion();
    const { host, port } = settings;
    await prepareDataFolder(settings.data);
    const folder = settings.replay ?? OWN_CHAIN;
    const replayed = await startReplayedNetwork({ name: 'dev', folder }, surroundings);
    closers.add(() => replayed.close());
    const listeners = [{ address: { host, port }, networks: [replayed.network.name] }];
    const service = await startService(
      {
        version,
        networks: [replayed.network],
        groups: [],
        listeners,
        hostOf: [],
        keepsKeyBlocks: false,
        settings,
      },
      surroundings,
    );
    closers.add(() => service.close());
    const [server] = service.servers;
    const { lastSeqno, lastTime } = replayed;
    const page = devPage({ version, url: server!.url, lastSeqno, lastTime, isOwnChain: settings.replay === null });
    return { page, close: () => closers.close() };
  });
}
