import { Command, CommanderError } from 'commander';
import type { CliEnvironment } from '#app/cli/environment.js';
import { cliErrors, errorLine } from '#app/cli/errors.js';
import { packageVersion } from '#app/cli/package.js';
import { isTernError } from '#kernel/tern-error.js';

/** Output streams of the command line. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Loads a command. */
type CommandSource = () => Promise<(environment: CliEnvironment) => Command>;

/** The commands in the order of the help, one file each. A command loads what it needs, and nothing of the others. */
const commands: Readonly<Record<string, CommandSource>> = {
  dev: async () => (await import('#app/cli/dev.js')).devCommand,
  localnet: async () => (await import('#app/cli/localnet.js')).localnetCommand,
  serve: async () => (await import('#app/cli/serve.js')).serveCommand,
  index: async () => (await import('#app/cli/index-command.js')).indexCommand,
  check: async () => (await import('#app/cli/check.js')).checkCommand,
  migrate: async () => (await import('#app/cli/migrate.js')).migrateCommand,
  keys: async () => (await import('#app/cli/keys.js')).keysCommand,
  config: async () => (await import('#app/cli/config.js')).configCommand,
  replay: async () => (await import('#app/cli/replay.js')).replayCommand,
  top: async () => (await import('#app/cli/top.js')).topCommand,
  lite: async () => (await import('#app/cli/lite.js')).liteCommand,
  decode: async () => (await import('#app/cli/decode.js')).decodeCommand,
  explain: async () => (await import('#app/cli/explain.js')).explainCommand,
  send: async () => (await import('#app/cli/send.js')).sendCommand,
  webhooks: async () => (await import('#app/cli/webhooks.js')).webhooksCommand,
};

/** The program with the command that the arguments name; with all, when they name none. */
async function buildProgram(args: readonly string[], output: Output, environment: CliEnvironment): Promise<Command> {
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
      if (unknown !== undefined) {
        const available = Object.keys(commands).join(', ');
        throw cliErrors.usage({ problem: `unknown command "${unknown}"; available: ${available}` });
      }
      program.outputHelp();
    });
  const own =
    args[0] !== undefined && Object.hasOwn(commands, args[0]) ? [commands[args[0]]!] : Object.values(commands);
  for (const makeCommand of await Promise.all(own.map((load) => load()))) {
    const command = makeCommand(environment).copyInheritedSettings(program);
    for (const part of command.commands) part.copyInheritedSettings(program);
    program.addCommand(command);
  }
  program.addCommand(helpCommand(program).copyInheritedSettings(program));
  return program;
}

/** `tern help`, `tern help keys create`: the same as `--help` there. */
function helpCommand(program: Command): Command {
  return new Command('help')
    .description('print the help of a command')
    .argument('[command...]', 'a command, and its subcommand')
    .action((names: readonly string[]) => {
      let found: Command = program;
      for (const name of names) {
        const next = found.commands.find((each) => each.name() === name);
        if (next === undefined) throw cliErrors.usage({ problem: `unknown command "${names.join(' ')}"` });
        found = next;
      }
      found.outputHelp();
    });
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
    const program = await buildProgram(args, output, environment);
    await program.parseAsync(args, { from: 'user' });
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
