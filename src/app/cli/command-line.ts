import { Command, CommanderError } from 'commander';
import { checkCommand } from '#app/cli/check.js';
import { configCommand } from '#app/cli/config.js';
import { decodeCommand } from '#app/cli/decode.js';
import { devCommand } from '#app/cli/dev.js';
import { type CliEnvironment, packageVersion } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { indexCommand } from '#app/cli/index-command.js';
import { keysCommand } from '#app/cli/keys.js';
import { liteCommand } from '#app/cli/lite.js';
import { localnetCommand } from '#app/cli/localnet.js';
import { migrateCommand } from '#app/cli/migrate.js';
import { replayCommand } from '#app/cli/replay.js';
import { serveCommand } from '#app/cli/serve.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** Where the command line writes. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** The commands of Tern, in the order of the help. Each is made by a file of its own beside this one. */
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
];

function buildProgram(output: Output, environment: CliEnvironment): Command {
  const program = new Command('tern')
    .description('TON data access, verified: the HTTP API from liteservers, and the tools around it.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .usage('[options] [command]')
    .allowExcessArguments()
    .configureOutput({ writeOut: output.out, writeErr: output.err, outputError: () => {} })
    .exitOverride()
    .action(() => {
      const [unknown] = program.args;
      if (unknown !== undefined) throw cliErrors.usage({ problem: `there is no command "${unknown}"` });
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
 * Runs one command line and returns the exit code; what went wrong is one line on `output.err`.
 *
 * @param environment where settings are looked for that the command line does not name
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
      output.err(`tern: this is a fault in Tern; please report it with the command you ran.\n${trace}\n`);
    }
    return 1;
  }
}

/** What a person at a terminal reads of an error: `tern: CODE: message. remedy`, always one line. */
export function errorLine(error: TernError): string {
  const sentence = /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  return `tern: ${error.code}: ${sentence} ${error.remedy}`.replace(/\s+/g, ' ').trim();
}
