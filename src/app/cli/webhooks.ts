import { readFileSync } from 'node:fs';
import process from 'node:process';
import { Command, Option } from 'commander';
import type { CliEnvironment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { localnetUrl } from '#app/cli/localnet.js';

interface CommonFlags {
  readonly url?: string;
  readonly key?: string;
  readonly json?: true;
}

interface AddFlags extends CommonFlags {
  readonly account: readonly string[];
  readonly type: readonly string[];
  readonly trace: readonly string[];
  readonly actionType: readonly string[];
  readonly minFinality?: string;
  readonly filter?: string;
}

/** JSON of the service. */
// biome-ignore lint/suspicious/noExplicitAny: answers of all methods
type Answer = any;

const SUBCOMMANDS = 'add, list, test, rotate, remove, deliveries, replay';

/** `tern webhooks`: manages the webhooks of a running service, over its HTTP API. */
export function webhooksCommand(environment: CliEnvironment): Command {
  const webhooks = new Command('webhooks')
    .description(
      'have events of accounts sent to a server of yours; list, test and remove that, and send again what failed',
    )
    .helpCommand(false)
    .allowUnknownOption()
    .action((_flags: object, command: Command) => {
      const [first = '-'] = command.args;
      const problem = first.startsWith('-')
        ? 'tern webhooks requires a subcommand'
        : `unknown command "webhooks ${first}"`;
      throw cliErrors.usage({ problem: `${problem}; available: ${SUBCOMMANDS}` });
    });
  const own = [addCommand(environment), listCommand(environment), testCommand(environment)];
  const others = [
    rotateCommand(environment),
    removeCommand(environment),
    deliveriesCommand(environment),
    replayCommand(environment),
  ];
  for (const command of [...own, ...others]) {
    command
      .option('--url <url>', 'URL of the service; default: TERN_URL, or the local network')
      .option('--key <key>', 'API key; default: TERN_API_KEY')
      .option('--json', 'print JSON');
    webhooks.addCommand(command);
  }
  return webhooks;
}

function addCommand(environment: CliEnvironment): Command {
  return new Command('add')
    .description('add a webhook; its secret is printed once')
    .argument('<target>', 'URL that events are sent to')
    .option('--account <address>', 'an account; may be repeated', collect, [])
    .option(
      '--type <type>',
      'transactions, actions, trace, account_state_change or jettons_change; may be repeated',
      collect,
      [],
    )
    .option('--trace <hash>', 'normalised hash of a message whose trace is sent; may be repeated', collect, [])
    .option('--action-type <type>', 'only actions of this type; may be repeated', collect, [])
    .addOption(
      new Option('--min-finality <level>', 'default: finalized').choices(['pending', 'confirmed', 'finalized']),
    )
    .option('--filter <file>', 'a file with the whole subscription as JSON, in place of these options')
    .action(async (target: string, flags: AddFlags, command: Command) => {
      const filter = flags.filter === undefined ? filterOf(flags) : filterIn(flags.filter);
      const hook = await ask(environment, flags, 'add', { url: target, filter });
      const text = `${hook.id}\nsecret ${hook.secret}\nevents behind ${hook.cursor} are sent to ${hook.url}\n`;
      print(command, flags, hook, text);
    });
}

function filterOf({ account, type, trace, actionType, minFinality }: AddFlags): object {
  const types =
    type.length > 0 ? type : [...(account.length > 0 ? ['transactions'] : []), ...(trace.length > 0 ? ['trace'] : [])];
  return {
    types,
    ...(account.length === 0 ? {} : { addresses: account }),
    ...(trace.length === 0 ? {} : { trace_external_hash_norms: trace }),
    ...(actionType.length === 0 ? {} : { action_types: actionType }),
    ...(minFinality === undefined ? {} : { min_finality: minFinality }),
  };
}

/** @throws cli/input */
function filterIn(file: string): object {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as object;
  } catch (error) {
    throw cliErrors.input({ argument: file, problem: `is no file with JSON: ${(error as Error).message}` }, error);
  }
}

function listCommand(environment: CliEnvironment): Command {
  return new Command('list').description('list webhooks').action(async (flags: CommonFlags, command: Command) => {
    const answer = await ask(environment, flags, 'list');
    const lines = answer.webhooks.map((hook: Answer) => `${hook.id}  ${hook.url}  ${JSON.stringify(hook.filter)}\n`);
    print(command, flags, answer, lines.join('') || 'there are no webhooks\n');
  });
}

function testCommand(environment: CliEnvironment): Command {
  return new Command('test')
    .description('send a test event now, and show the answer')
    .argument('<id>', 'id of the webhook')
    .action(async (id: string, flags: CommonFlags, command: Command) => {
      const answer = await ask(environment, flags, 'test', { id });
      print(command, flags, answer, `${answer.problem ?? `delivered: ${answer.status}`}\n`);
    });
}

function rotateCommand(environment: CliEnvironment): Command {
  return new Command('rotate')
    .description('give a webhook a new secret, which is printed once; the one before signs as well for a day')
    .argument('<id>', 'id of the webhook')
    .action(async (id: string, flags: CommonFlags, command: Command) => {
      const answer = await ask(environment, flags, 'rotate', { id });
      const text = `secret ${answer.secret}\nthe one before signs as well until ${answer.previous_until}\n`;
      print(command, flags, answer, text);
    });
}

function removeCommand(environment: CliEnvironment): Command {
  return new Command('remove')
    .description('remove a webhook with all that waits to be sent')
    .argument('<id>', 'id of the webhook')
    .action(async (id: string, flags: CommonFlags, command: Command) => {
      print(command, flags, await ask(environment, flags, 'remove', { id }), `${id} was removed\n`);
    });
}

function deliveriesCommand(environment: CliEnvironment): Command {
  return new Command('deliveries')
    .description('list the newest events of a webhook and what became of them')
    .argument('<id>', 'id of the webhook')
    .addOption(new Option('--state <state>', 'only these').choices(['waiting', 'delivered', 'dead']))
    .action(async (id: string, flags: CommonFlags & { readonly state?: string }, command: Command) => {
      const query = new URLSearchParams({ id, ...(flags.state === undefined ? {} : { state: flags.state }) });
      const answer = await ask(environment, flags, `deliveries?${query}`);
      const lines = answer.deliveries.map(
        ({ number, state, attempts, problem, event }: Answer) =>
          `${number}  ${state}  ${attempts} attempts  ${event.type}${problem === null ? '' : `  ${problem}`}\n`,
      );
      print(command, flags, answer, lines.join('') || 'there are none\n');
    });
}

function replayCommand(environment: CliEnvironment): Command {
  return new Command('replay')
    .description('send dead events again, before those that came later')
    .argument('<id>', 'id of the webhook')
    .option('--number <n>', 'only this one')
    .action(async (id: string, flags: CommonFlags & { readonly number?: string }, command: Command) => {
      const answer = await ask(environment, flags, 'replay', { id, number: flags.number ?? null });
      print(command, flags, answer, `${answer.replayed} events are sent again\n`);
    });
}

/** @throws cli/send-source, cli/send-refused */
async function ask(
  environment: CliEnvironment,
  { url: flag, key = environment.TERN_API_KEY }: CommonFlags,
  path: string,
  body?: object,
): Promise<Answer> {
  const url = localnetUrl(flag, environment);
  const headers = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(key === undefined ? {} : { 'X-API-Key': key }),
  };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  let status: number;
  let answer: Answer;
  try {
    const response = await fetch(`${url}/api/webhooks/${path}`, init);
    status = response.status;
    answer = await response.json();
  } catch (error) {
    const { cause, message } = error as { readonly cause?: { readonly code?: unknown }; readonly message: string };
    throw cliErrors['send-source']({ url, problem: String(cause?.code ?? message) }, error);
  }
  if (status === 200) return answer;
  throw cliErrors['send-refused']({ problem: String(answer?.error ?? `status ${status}`), status });
}

function print(command: Command, flags: CommonFlags, answer: Answer, text: string): void {
  const write = command.configureOutput().writeOut ?? ((out: string) => void process.stdout.write(out));
  write(flags.json === true ? `${JSON.stringify(answer, null, 2)}\n` : text);
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
