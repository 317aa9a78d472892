import { Command, CommanderError } from 'commander';
import { checkCommand } from '#app/cli/check.js';
import { configCommand } from '#app/cli/config.js';
import { decodeCommand } from '#app/cli/decode.js';
import { devCommand } from '#app/cli/dev.js';
import { type CliEnvironment, packageVersion } from '#app/cli/environment.js';
import { cliErrors, errorLine } from '#app/cli/errors.js';
import { explainCommand } from '#app/cli/explain.js';
import { indexCommand } from '#app/cli/index-command.js';
import { keysCommand } from '#app/cli/keys.js';
import { liteCommand } from '#app/cli/lite.js';
import { localnetCommand } from '#app/cli/localnet.js';
import { migrateCommand } from '#app/cli/migrate.js';
import { replayCommand } from '#app/cli/replay.js';
import { serveCommand } from '#app/cli/serve.js';
import { isTernError } from '#kernel/tern-error.js';

/** Output streams of the command line. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** The commands in the order of the help, one file each. */
const commands: readonly ((environment: CliEnvironment) => Command)[] = [
  devCommand,
  localnetCommand,
  serveCommand,
  indexCommand,
  checkCommand,
  migrateCommand,
  keysCommand,
  configCommand,
  replayCommand,
  liteCommand,
  decodeCommand,
  explainCommand,
];

function buildProgram(output: Output, environment: CliEnvironment): Command {
  const program = new Command('tern')
    .description('Verified TON data access: HTTP API over liteservers, indexer, local network and tools.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .usage('[options] [command]')
    .allowExcessArguments()
    .configureOutput({ writeOut: output.out, writeErr: output.err, outputError: () => {} })
    .exitOverride()
    .action(() => {
      const [unknown] = program.args;
      if (unknown !== undefined) throw cliErrors.usage({ problem: `unknown command "${unknown}"` });
      program.outputHelp();
    });
  for (const makeCommand of commands) {
    const command = makeCommand(environment).copyInheritedSettings(program);
    for (const part of command.commands) part.copyInheritedSettings(program);
    program.addCommand(command);
  }
  return program;
}

/**
 * Runs a command line and returns the exit code. An error is printed as one line to `output.err`.
 *
 * @param environment environment variables for settings without a flag
 */
export async function runCommandLine(
  args: readonly string[],
  output: Output,
  environment: CliEnvironment = {},
): Promise<number> {
  try {
    await buildProgram(output, environment).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      output.err(`${errorLine(cliErrors.usage({ problem: error.message.replace(/^error: /, '') }))}\n`);
    } else if (isTernError(error)) {
      output.err(`${errorLine(error)}\n`);
    } else {
      const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
      output.err(`tern: internal error; please report it with the command you ran.\n${trace}\n`);
    }
    return 1;
  }
}
