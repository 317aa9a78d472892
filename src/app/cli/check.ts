import process from 'node:process';
import { Command } from 'commander';
import {
  addSettings,
  type CliEnvironment,
  openCommandLog,
  runUntilSignal,
  systemEnvironment,
} from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { ProgressMeter, ProgressOutput, progressForm } from '#app/cli/progress.js';
import { assignDatabases } from '#app/config/index-settings.js';
import { download, loadNetworks } from '#app/config/networks.js';
import { type GivenSettings, readSettings } from '#app/config/setting.js';
import { type CheckSettings, checkSettings } from '#app/config/settings.js';
import type { RunningCheck } from '#app/service/index-tools.js';
import { systemClock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { CheckIndexReport } from '#services/indexer/check/check-index.js';
import { printRanges } from '#services/indexer/index-progress.js';

const toStandardError = (text: string) => void process.stderr.write(text);

/** `tern check`: compares the index of a network with the chain and prints the differences. Read-only. */
export function checkCommand(environment: CliEnvironment): Command {
  const command = new Command('check')
    .description(
      'compare the index of a network with the chain and print the differences; exit code 1 if there are any',
    )
    .option('--json', 'print the report as JSON, and progress as lines of JSON to standard error')
    .action(async (given: Omit<GivenSettings['flags'], 'json'> & { readonly json?: true }, self: Command) => {
      const { json, ...flags } = given;
      const { writeOut = (text: string) => void process.stdout.write(text), writeErr = toStandardError } =
        self.configureOutput();
      const { values } = readSettings(checkSettings, { flags, environment });
      const logger = openCommandLog(values);
      try {
        const output = new ProgressOutput(
          writeErr,
          progressForm(json === true, process.stderr.isTTY === true),
          systemClock,
        );
        const meter = new ProgressMeter(() => systemClock.now());
        let check: RunningCheck | null = null;
        const isDone = await runUntilSignal(
          environment,
          () => startChecking(values, logger),
          (running) => {
            check = running;
            output.start(() => meter.show(running.progress()));
          },
        ).finally(() => output.close());
        if (!isDone || check === null) throw cliErrors.interrupted({ command: 'tern check' });
        const report = await (check as RunningCheck).report;
        writeOut(json === true ? `${JSON.stringify(report, null, 2)}\n` : indexReportText(report));
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
  const { from, to, sample, data: dataFolder } = settings;
  // Loaded on demand: this halves the startup time of other commands.
  const { startCheck } = await import('#app/service/index-tools.js');
  const { selectedAccounts } = await import('#app/service/selected-accounts.js');
  const source = { network: network!, dataFolder };
  const accounts = await selectedAccounts(settings.accounts, source, systemEnvironment(logger));
  return startCheck(
    { network: network!, url: databases.get(name)!.url, dataFolder, from, to, sample, accounts },
    systemEnvironment(logger),
  );
}

/** Maximum length of a printed value. */
const MAX_VALUE = 80;

/** The output of `tern check`. */
function indexReportText(report: CheckIndexReport): string {
  const { range, mcBlocks, blocks, transactions, traces, differences, details, missing } = report;
  const lines = [
    `masterchain blocks ${range.from}-${range.to}: compared ${mcBlocks} of them with ${blocks} blocks, ` +
      `${transactions} transactions and ${traces} traces`,
  ];
  if (missing.length > 0) lines.push(`not indexed: ${printRanges(missing)}`);
  const kinds = Object.entries(differences);
  if (kinds.length === 0) lines.push('no differences');
  for (const [kind, times] of kinds) lines.push(`different: ${kind}, ${times} times`);
  for (const { row, column, expected, found } of details) {
    const place = column === null ? row : `${row}, ${column}`;
    lines.push(`  ${place}: the chain has ${valueText(expected)}, the index ${valueText(found)}`);
  }
  const total = Object.values(differences).reduce((sum, each) => sum + each, 0);
  if (total > details.length) lines.push(`  and ${total - details.length} more`);
  if (report.brokenTraces > 0) {
    lines.push(`${report.brokenTraces} traces start with a message whose sender is not indexed`);
  }
  if (report.incompleteAccounts > 0) {
    lines.push(`${report.incompleteAccounts} accounts are incomplete`);
  }
  return `${lines.join('\n')}\n`;
}

function valueText(value: string | null): string {
  if (value === null) return 'nothing';
  return value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}… (${value.length} characters)` : value;
}
