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
import {
  ProgressMeter,
  ProgressOutput,
  progressForm,
  progressJson,
  progressLine,
  type ShownProgress,
  totalsLine,
} from '#app/cli/progress.js';
import { assignDatabases } from '#app/config/index-settings.js';
import { download, loadNetworks } from '#app/config/networks.js';
import { type GivenSettings, readSettings } from '#app/config/setting.js';
import { type BackfillSettings, backfillSettings } from '#app/config/settings.js';
import type { RunningBackfill, RunningRederivation, RunningStateImport } from '#app/service/index-tools.js';
import { systemClock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';

/** What `tern index` does. */
type RunningCommand = RunningBackfill | RunningRederivation | RunningStateImport;

const toStandardError = (text: string) => void process.stderr.write(text);

/** `tern index`: writes a range of the chain to the index and exits. Indexed blocks are not written again. */
export function indexCommand(environment: CliEnvironment): Command {
  const command = new Command('index')
    .description(
      'backfill the index of a network over a range of masterchain blocks and exit; can be interrupted and repeated',
    )
    .option('--recreate', 'delete all that is indexed and begin again; no other process may write the index meanwhile')
    .option('--json', 'print the totals as JSON, and progress as lines of JSON to standard error')
    .action(async (given: IndexFlags, self: Command) => {
      const { recreate = false, json, ...flags } = given;
      const { writeOut = (text: string) => void process.stdout.write(text), writeErr = toStandardError } =
        self.configureOutput();
      const { values } = readSettings(backfillSettings, { flags, environment });
      if (values.rederive !== null && (values.from !== null || values.to !== null)) {
        throw cliErrors.usage({
          problem: '--rederive covers everything that is indexed: omit --from and --to',
        });
      }
      if (values.rederive !== null && recreate) {
        throw cliErrors.usage({ problem: '--rederive and --recreate are mutually exclusive' });
      }
      if (values.state.length > 0) requireAlone(values);
      const logger = openCommandLog(values);
      try {
        const began = systemClock.now();
        let done: RunningCommand | null = null;
        const output = new ProgressOutput(
          writeErr,
          progressForm(json === true, process.stderr.isTTY === true),
          systemClock,
        );
        const meter = new ProgressMeter(() => systemClock.now());
        const isDone = await runUntilSignal(
          environment,
          () => startIndexing(values, recreate, logger),
          (running) => {
            done = running;
            output.start(() => ('progress' in running ? meter.show(running.progress()) : filling(running)));
          },
        ).finally(() => output.close());
        if (done !== null) {
          const running = done as RunningCommand;
          const seconds = (systemClock.now() - began) / 1000;
          const isBackfill = !('progress' in running);
          const text = isBackfill ? totalsLine(running.indexer.status, seconds) : running.progress().note;
          const totals = isBackfill ? { ...running.indexer.status.sums } : { progress: text };
          writeOut(
            json === true ? `${JSON.stringify({ seconds, complete: isDone, ...totals }, null, 2)}\n` : `${text}\n`,
          );
        }
        if (!isDone) throw cliErrors.interrupted({ command: 'tern index' });
      } finally {
        await logger.close();
      }
    });
  return addSettings(command, backfillSettings);
}

type IndexFlags = Omit<GivenSettings['flags'], 'recreate' | 'json'> & {
  readonly recreate?: true;
  readonly json?: true;
};

/** @throws cli/usage */
function requireAlone({ from, to, rederive, accounts }: BackfillSettings): void {
  const others = Object.entries({ from, to, rederive, accounts }).filter(([, value]) => value !== null);
  if (others.length === 0) return;
  const names = others.map(([name]) => `--${name}`).join(', ');
  throw cliErrors.usage({ problem: `--state imports all accounts and nothing else: omit ${names}` });
}

function filling({ indexer, problem }: RunningBackfill): ShownProgress {
  const { status } = indexer;
  return { line: progressLine(status, problem()), json: progressJson(status, problem()) };
}

async function startIndexing(settings: BackfillSettings, recreate: boolean, logger: Logger): Promise<RunningCommand> {
  const [network] = await loadNetworks([settings.network], { download });
  const { name } = network!;
  const databases = assignDatabases([name], { ...settings, databaseReadUrl: [], role: 'indexer' });
  const { from, to, workers, data: dataFolder, rederive, dnsRoot: dnsRoots, state } = settings;
  // Loaded on demand: this halves the startup time of other commands.
  const { startBackfill, startRederivation, startStateImport } = await import('#app/service/index-tools.js');
  const { selectedAccounts } = await import('#app/service/selected-accounts.js');
  const source = { network: network!, dataFolder };
  const accounts = await selectedAccounts(settings.accounts, source, systemEnvironment(logger));
  const index = { network: network!, url: databases.get(name)!.url, dataFolder, accounts, dnsRoots, workers };
  if (state.length > 0) return startStateImport({ ...index, state, recreate }, systemEnvironment(logger));
  if (rederive === null) return startBackfill({ ...index, from, to, recreate }, systemEnvironment(logger));
  return startRederivation({ ...index, derivation: rederive }, systemEnvironment(logger));
}
