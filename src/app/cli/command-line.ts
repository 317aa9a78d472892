import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { decodeCommand } from '#app/cli/decode.js';
import { errorLine } from '#app/cli/error-line.js';
import { cliErrors } from '#app/cli/errors.js';
import { keysCommand } from '#app/cli/keys.js';
import { liteCommand } from '#app/cli/lite.js';
import { replayCommand } from '#app/cli/replay.js';
import { welcome } from '#app/cli/welcome.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** Where the command line writes. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** The commands of Tern, in the order of the help. Each is made by a file of its own beside this one. */
const commands: readonly (() => Command)[] = [decodeCommand, keysCommand, liteCommand, replayCommand];

function packageVersion(): string {
  const manifest = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

function buildProgram(output: Output): Command {
  const program = new Command('tern')
    .description('TON data access: cells, TL-B and proofs, read fast, strictly and verified.')
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
      output.out(welcome());
    });
  for (const makeCommand of commands) {
    const command = makeCommand().copyInheritedSettings(program);
    for (const part of command.commands) part.copyInheritedSettings(program);
    program.addCommand(command);
  }
  return program;
}

/** Runs one command line and returns the exit code; what went wrong is one line on `output.err`. */
export async function runCommandLine(args: readonly string[], output: Output): Promise<number> {
  try {
    await buildProgram(output).parseAsync(args, { from: 'user' });
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
