import process from 'node:process';
import { Command } from 'commander';
import { reportText } from '#app/cli/check-report.js';
import type { Environment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { ProgressOutput } from '#app/cli/progress-output.js';
import { runUntilSignal } from '#app/cli/run-until-signal.js';
import { addSettings } from '#app/cli/settings-options.js';
import { realSurroundings } from '#app/cli/surroundings.js';
import { loadAccounts } from '#app/config/account-list.js';
import { assignDatabases } from '#app/config/databases.js';
import { download } from '#app/config/download.js';
import { loadNetworks } from '#app/config/networks.js';
import { type GivenSettings, readSettings } from '#app/config/read-settings.js';
import { type CheckSettings, checkSettings } from '#app/config/settings.js';
import type { RunningCheck } from '#app/service/index-tools.js';
import { pinoLogger } from '#app/telemetry/pino-logger.js';
import { systemClock } from '#kernel/clock/system-clock.js';
import type { Logger } from '#kernel/observe/logger.js';

const STANDARD_ERROR = 2;

const toStandardError = (text: string) => void process.stderr.write(text);

/** `tern check`: compares the index of a network with the chain, and says what differs. Changes nothing. */
export function checkCommand(environment: Environment): Command {
  const command = new Command('check')
    .description('compare the index of a network with the chain and say what differs; exit code 1 when something does')
    .action(async (flags: GivenSettings['flags'], self: Command) => {
      const { writeOut = (text: string) => void process.stdout.write(text), writeErr = toStandardError } =
        self.configureOutput();
      const { values } = readSettings(checkSettings, { flags, environment });
      const logger = pinoLogger({ level: values.logLevel, to: STANDARD_ERROR });
      try {
        const output = new ProgressOutput(writeErr, process.stderr.isTTY === true, systemClock);
        let check: RunningCheck | null = null;
        const isDone = await runUntilSignal(
          () => startChecking(values, logger),
          (running) => {
            check = running;
            output.start(() => running.progress());
          },
        ).finally(() => output.close());
        if (!isDone || check === null) throw cliErrors.interrupted({ command: 'tern check' });
        const report = await (check as RunningCheck).report;
        writeOut(reportText(report));
        const differences = Object.values(report.differences).reduce((sum, each) => sum + each, 0);
        const missing = report.missing.length;
        if (differences + missing > 0) throw cliErrors['index-differs']({ differences, missing });
      } finally {
        await logger.close();
      }
    });
  return addSettings(command, checkSettings);
}

async function startChecking(settings: CheckSettings, logger: Logger): Promise<RunningCheck> {
  const [network] = await loadNetworks([settings.network], { download });
  const { name } = network!;
  const databases = assignDatabases([name], { ...settings, databaseReadUrl: [], role: 'api' });
  const accounts = settings.accounts === null ? null : await loadAccounts(settings.accounts);
  const { from, to, sample, data: dataFolder } = settings;
  // Loaded when it is needed: other commands start in half the time without it.
  const { startCheck } = await import('#app/service/index-tools.js');
  return startCheck(
    { network: network!, url: databases.get(name)!.url, dataFolder, from, to, sample, accounts },
    realSurroundings(logger),
  );
}
