import { resolve } from 'node:path';
import process from 'node:process';
import type { Command } from 'commander';
import { AddressCommand } from '#app/cli/address-command.js';
import type { Environment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { nanotonsOf, numberOf, secondsOf } from '#app/cli/localnet/amounts.js';
import { begunAnew } from '#app/cli/localnet/begun-anew.js';
import { cellArgument, cellOrNone } from '#app/cli/localnet/cell-argument.js';
import { type LocalnetAnswer, LocalnetClient } from '#app/cli/localnet/localnet-client.js';
import { shardArgument } from '#app/cli/localnet/shard-argument.js';
import {
  minedText,
  reportText,
  sentText,
  snapshotsText,
  snapshotText,
  statusText,
  walletsText,
} from '#app/cli/localnet/texts.js';
import { addSettings } from '#app/cli/settings-options.js';
import { localnetSettings } from '#app/config/localnet-settings.js';
import { readSettings } from '#app/config/read-settings.js';
import { devSettings } from '#app/config/settings.js';

interface CommonFlags {
  readonly url?: string;
  readonly json?: true;
}

/** Where a command asks and prints. */
interface Session {
  readonly client: LocalnetClient;
  /** Prints an answer, for people or as JSON. */
  show(answer: LocalnetAnswer, text: (answer: LocalnetAnswer) => string): void;
}

/** One command: what it takes, and what it does. */
type Action<Flags> = (session: Session, args: readonly string[], flags: Flags) => Promise<void>;

/** Blocks that are asked for at a time, so that no answer takes long. */
const BLOCKS_AT_A_TIME = 500;

/** `tern localnet`: control of a local network that `tern dev` runs. */
export function localnetCommand(environment: Environment): Command {
  const localnet = new AddressCommand('localnet')
    .description('control the local network that npm start runs: coins, blocks, time, accounts, snapshots')
    .helpCommand(false)
    .allowUnknownOption()
    .action((_flags: object, command: Command) => {
      const [first = '-'] = command.args;
      const known = command.commands.map((each) => each.name()).join(', ');
      const problem = first.startsWith('-')
        ? 'tern localnet does nothing alone'
        : `there is no command "localnet ${first}"`;
      throw cliErrors.usage({ problem: `${problem}; it has ${known}` });
    });
  for (const command of commandsOf(environment)) localnet.addCommand(command);
  return localnet;
}

function commandsOf(environment: Environment): readonly Command[] {
  const command = <Flags extends object>(usage: string, description: string, action: Action<Flags>): Command => {
    const [name = '', ...args] = usage.split(' ');
    const made = new AddressCommand(name).description(description);
    for (const arg of args) made.argument(arg);
    addSettings(made, localnetSettings).option('--json', 'print JSON, as the HTTP API answers');
    return made.action(async (...given: unknown[]) => {
      const stray = made.args[args.length];
      if (stray !== undefined)
        throw cliErrors.usage({ problem: `tern localnet ${name} does not take "${stray}" as well` });
      const flags = made.opts<CommonFlags & Flags>();
      // Behind the arguments are the flags and the command itself.
      const values = given.slice(0, args.length).map((value) => value as string);
      await action(sessionOf(made, flags, environment), values, flags);
    });
  };
  return [
    command('status', 'show the head, the shards, the time and how blocks are made', async ({ client, show }) =>
      show(await client.get('status'), statusText),
    ),
    command(
      'wallets',
      'list the wallets that have coins, with their keys and what they have now',
      async ({ client, show }) => show(await client.get('wallets'), walletsText),
    ),
    command<{ readonly comment?: string }>(
      'fund <address> <ton>',
      'send coins from the faucet',
      async ({ client, show }, [address, ton], { comment }) => {
        const parameters = { address, amount: nanotonsOf('the amount', ton!), comment };
        show(await client.post('faucet', parameters), (sent) => sentText(sent, client.url));
      },
    ).option('--comment <text>', 'a text to go with the coins'),
    command('mine [blocks]', 'make blocks at once: one, or so many', async ({ client, show }, [count = '1']) => {
      let left = numberOf('the number of blocks', count, 1, 10_000);
      let answer: LocalnetAnswer;
      for (; left > 0; left -= BLOCKS_AT_A_TIME) {
        answer = await client.post('mine', { blocks: Math.min(left, BLOCKS_AT_A_TIME) });
      }
      show(answer, minedText);
    }),
    command('pause', 'stop making blocks, until resume', async ({ client, show }) =>
      show(await client.post('pause'), statusText),
    ),
    command('resume', 'go on making blocks', async ({ client, show }) => show(await client.post('resume'), statusText)),
    command('block-time <milliseconds>', 'set the time between blocks', async ({ client, show }, [text]) => {
      const milliseconds = numberOf('the time between blocks', text!, 1, 2 ** 31 - 1);
      show(await client.post('block-time', { milliseconds }), statusText);
    }),
    command('time <advance>', 'move the time forward: by +1h, 90s, 30m, 7d, 1y', async ({ client, show }, [text]) =>
      show(await client.post('time', { advance: secondsOf(text!) }), minedText),
    ),
    command<{ readonly balance?: string; readonly code?: string; readonly data?: string }>(
      'account <address>',
      'give an account another balance, code or data; what is not named stays',
      async ({ client, show }, [address], { balance, code, data }) => {
        const parameters = {
          address,
          ...(balance === undefined ? {} : { balance: nanotonsOf('--balance', balance) }),
          ...(code === undefined ? {} : { code: cellOrNone(code) }),
          ...(data === undefined ? {} : { data: cellOrNone(data) }),
        };
        if (Object.keys(parameters).length === 1) {
          throw cliErrors.usage({
            problem: 'tern localnet account changes nothing without --balance, --code or --data',
          });
        }
        show(await client.post('account', parameters), minedText);
      },
    )
      .option('--balance <ton>', 'what it is to have, in TON')
      .option('--code <cells>', 'its code: a file, hex, base64, - for standard input, or none')
      .option('--data <cells>', 'its data, in the same way'),
    command<{ readonly bounce: boolean; readonly body?: string; readonly init?: string }>(
      'impersonate <from> <to> <ton>',
      'run a message as any address; its coins come from nowhere',
      async ({ client, show }, [from, to, ton], { bounce, body, init }) => {
        const parameters = {
          ...{ from, to, value: nanotonsOf('the amount', ton!), bounce },
          ...(body === undefined ? {} : { body: cellArgument(body) }),
          ...(init === undefined ? {} : { init: cellArgument(init) }),
        };
        show(await client.post('impersonate', parameters), (sent) => sentText(sent, client.url));
      },
    )
      .option('--body <cells>', 'the body: a file, hex, base64, or - for standard input (default: an empty one)')
      .option('--init <cells>', 'the StateInit to deploy with it, in the same way')
      .option('--no-bounce', 'do not send it back when it cannot be worked on'),
    command<{ readonly delete?: true }>(
      'config <param> [cells]',
      'set a parameter of the configuration: a file, hex, base64, or - for standard input',
      async ({ client, show }, [number, cells], flags) => {
        if ((cells === undefined) !== (flags.delete === true)) {
          throw cliErrors.usage({ problem: 'tern localnet config takes a value, or else --delete' });
        }
        const param = numberOf('the parameter', number!, -(2 ** 31), 2 ** 31 - 1);
        const value = cells === undefined ? null : cellArgument(cells);
        show(await client.post('config', { param, value }), minedText);
      },
    ).option('--delete', 'take the parameter out'),
    ...(['split', 'merge'] as const).map((what) =>
      command(
        `${what} [shard]`,
        what === 'split'
          ? 'split a shard in two, as 8000000000000000; without one, the only one'
          : 'merge a shard with its sibling; without one, the only two',
        async ({ client, show }, [text]) => {
          const shard = await shardArgument(what, text, client);
          show(await client.post(`shards/${what}`, shard), minedText);
        },
      ),
    ),
    command(
      'touch <address>',
      'bring an account here from the network that this one is a fork of',
      async (session, [address]) => {
        const { client, show } = session;
        show(await client.post('touch', { address }), (answer) =>
          answer.block === null ? 'there is no such account\n' : minedText(answer),
        );
      },
    ),
    command('snapshot <action> [name]', 'save, load, list or delete states to go back to', snapshot),
    command('reset', 'end the chain and begin another one', async ({ client, show }) =>
      show(await begunAnew(client, await client.post('reset')), statusText),
    ),
    command('export <folder>', 'write the chain into a folder, for tern replay', async ({ client, show }, [folder]) =>
      show(
        await client.post('export', { folder: resolve(folder!) }),
        (answer) => `${answer.blocks} blocks were written to ${answer.folder}\n`,
      ),
    ),
    command(
      'check <folder>',
      'check every block of a chain that was exported, by the rules of a validator',
      async (session, [folder]) => {
        // Loaded when it is needed: other commands start in half the time without it.
        const { checkChain } = await import('#app/cli/localnet/check-chain.js');
        session.show(checkChain(folder!), reportText);
      },
    ),
  ];
}

const snapshot: Action<object> = async ({ client, show }, [action, name]) => {
  if (action === 'list' && name === undefined) return show(await client.get('snapshots'), snapshotsText);
  if (name === undefined || !(action === 'save' || action === 'load' || action === 'delete')) {
    throw cliErrors.usage({ problem: 'tern localnet snapshot takes save NAME, load NAME, delete NAME or list' });
  }
  const answer = await client.post(`snapshots/${action}`, { name });
  if (action === 'load') return show(await begunAnew(client, answer), statusText);
  show(answer, action === 'save' ? snapshotText : snapshotsText);
};

function sessionOf(command: Command, { url, json }: CommonFlags, environment: Environment): Session {
  const { writeOut = (text: string) => void process.stdout.write(text) } = command.configureOutput();
  return {
    client: new LocalnetClient(urlOf(url, environment)),
    show: (answer, text) => writeOut(json === true ? `${JSON.stringify(answer, null, 2)}\n` : text(answer)),
  };
}

/** @throws config/bad-setting */
function urlOf(flag: string | undefined, environment: Environment): string {
  const { url } = readSettings(localnetSettings, {
    flags: flag === undefined ? {} : { url: flag },
    environment,
  }).values;
  if (url !== null) return url;
  const { port } = readSettings({ port: devSettings.port }, { flags: {}, environment }).values;
  return `http://127.0.0.1:${port}`;
}
