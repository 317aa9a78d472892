import process from 'node:process';
import { Command } from 'commander';
import type { Environment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { progressLine, sumsLine } from '#app/cli/progress-line.js';
import { ProgressOutput } from '#app/cli/progress-output.js';
import { runUntilSignal } from '#app/cli/run-until-signal.js';
import { addSettings } from '#app/cli/settings-options.js';
import { realSurroundings } from '#app/cli/surroundings.js';
import { loadAccounts } from '#app/config/account-list.js';
import { assignDatabases } from '#app/config/databases.js';
import { download } from '#app/config/download.js';
import { loadNetworks } from '#app/config/networks.js';
import { type GivenSettings, readSettings } from '#app/config/read-settings.js';
import { type BackfillSettings, backfillSettings } from '#app/config/settings.js';
import type { Backfill } from '#app/service/index-tools.js';
import type { Rederivation } from '#app/service/rederivation.js';
import { pinoLogger } from '#app/telemetry/pino-logger.js';
import { systemClock } from '#kernel/clock/system-clock.js';
import type { Logger } from '#kernel/observe/logger.js';

const STANDARD_ERROR = 2;

const toStandardError = (text: string) => void process.stderr.write(text);

/** `tern index`: writes a range of the chain to the index, and ends. What is there is not written again. */
export function indexCommand(environment: Environment): Command {
  const command = new Command('index')
    .description(
      'fill the index of a network from one masterchain block to another, and end; may be ended and begun again',
    )
    .action(async (flags: GivenSettings['flags'], self: Command) => {
      const { writeOut = (text: string) => void process.stdout.write(text), writeErr = toStandardError } =
        self.configureOutput();
      const { values } = readSettings(backfillSettings, { flags, environment });
      if (values.rederive !== null && (values.from !== null || values.to !== null)) {
        throw cliErrors.usage({
          problem: 'with --rederive all that is indexed is gone through: leave out --from and --to',
        });
      }
      const logger = pinoLogger({ level: values.logLevel, to: STANDARD_ERROR });
      try {
        const began = systemClock.now();
        let done: Backfill | Rederivation | null = null;
        const output = new ProgressOutput(writeErr, process.stderr.isTTY === true, systemClock);
        const isDone = await runUntilSignal(
          () => startIndexing(values, logger),
          (running) => {
            done = running;
            output.start(() => ('progress' in running ? running.progress() : fillingLine(running)));
          },
        ).finally(() => output.close());
        if (done !== null) {
          const running = done as Backfill | Rederivation;
          const seconds = (systemClock.now() - began) / 1000;
          writeOut(`${'progress' in running ? running.progress() : sumsLine(running.indexer.status, seconds)}\n`);
        }
        if (!isDone) throw cliErrors.interrupted({ command: 'tern index' });
      } finally {
        await logger.close();
      }
    });
  return addSettings(command, backfillSettings);
}

function fillingLine({ indexer, problem }: Backfill): string {
  return progressLine(indexer.status, problem());
}

async function startIndexing(settings: BackfillSettings, logger: Logger): Promise<Backfill | Rederivation> {
  const [network] = await loadNetworks([settings.network], { download });
  const { name } = network!;
  const databases = assignDatabases([name], { ...settings, databaseReadUrl: [], role: 'indexer' });
  const accounts = settings.accounts === null ? null : await loadAccounts(settings.accounts);
  const { from, to, workers, data: dataFolder, rederive, dnsRoot: dnsRoots } = settings;
  // Loaded when it is needed: other commands start in half the time without it.
  const { startBackfill } = await import('#app/service/index-tools.js');
  const index = { network: network!, url: databases.get(name)!.url, dataFolder, accounts, dnsRoots, workers };
  if (rederive === null) return startBackfill({ ...index, from, to }, realSurroundings(logger));
  const { startRederivation } = await import('#app/service/rederivation.js');
  return startRederivation(index, realSurroundings(logger));
}
