import { resolve } from 'node:path';
import process from 'node:process';
import { Command } from 'commander';
import { readInput } from '#app/cli/decode-input.js';
import { addSettings, type CliEnvironment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import type { ChainReport } from '#app/cli/localnet-check.js';
import { type LocalnetAnswer, LocalnetClient } from '#app/cli/localnet-client.js';
import { tons } from '#app/cli/ton-amount.js';
import { readSettings } from '#app/config/setting.js';
import { devSettings, localnetSettings } from '#app/config/settings.js';
import { MAX_SPLIT_BITS } from '#formats/proofs/split-state.js';
import { toBase64 } from '#kernel/bytes.js';
import { durationText } from '#kernel/duration-text.js';

interface CommonFlags {
  readonly url?: string;
  readonly json?: true;
}

/** Control API client and output of a command. */
interface Session {
  readonly client: LocalnetClient;
  /** Prints an answer as text or JSON. */
  show(answer: LocalnetAnswer, text: (answer: LocalnetAnswer) => string): void;
}

/** The action of a command. */
type Action<Flags> = (session: Session, args: readonly string[], flags: Flags) => Promise<void>;

/** Maximum blocks per request, to limit its duration. */
const BLOCKS_AT_A_TIME = 500;

/** `tern localnet`: controls a local network started by `tern dev`. */
export function localnetCommand(environment: CliEnvironment): Command {
  const localnet = new AddressCommand('localnet')
    .description('control the local network started by npm start: coins, blocks, time, accounts, snapshots')
    .helpCommand(false)
    .allowUnknownOption()
    .action((_flags: object, command: Command) => {
      const [first = '-'] = command.args;
      const known = command.commands.map((each) => each.name()).join(', ');
      const problem = first.startsWith('-')
        ? 'tern localnet requires a subcommand'
        : `unknown command "localnet ${first}"`;
      throw cliErrors.usage({ problem: `${problem}; available: ${known}` });
    });
  for (const command of commandsOf(environment)) localnet.addCommand(command);
  return localnet;
}

function commandsOf(environment: CliEnvironment): readonly Command[] {
  const command = <Flags extends object>(usage: string, description: string, action: Action<Flags>): Command => {
    const [name = '', ...args] = usage.split(' ');
    const made = new AddressCommand(name).description(description);
    for (const arg of args) made.argument(arg);
    addSettings(made, localnetSettings).option('--json', 'print the JSON of the HTTP API');
    return made.action(async (...given: unknown[]) => {
      const stray = made.args[args.length];
      if (stray !== undefined)
        throw cliErrors.usage({ problem: `unexpected argument "${stray}" of tern localnet ${name}` });
      const flags = made.opts<CommonFlags & Flags>();
      // The arguments are followed by the flags and the command.
      const values = given.slice(0, args.length).map((value) => value as string);
      await action(sessionOf(made, flags, environment), values, flags);
    });
  };
  return [
    command('status', 'show head, shards, time and block production', async ({ client, show }) =>
      show(await client.get('status'), statusText),
    ),
    command('wallets', 'list the funded wallets with keys and balances', async ({ client, show }) =>
      show(await client.get('wallets'), walletsText),
    ),
    command<{ readonly comment?: string }>(
      'fund <address> <ton>',
      'send coins from the faucet',
      async ({ client, show }, [address, ton], { comment }) => {
        const parameters = { address, amount: nanotonsOf('the amount', ton!), comment };
        show(await client.post('faucet', parameters), (sent) => sentText(sent, client.url));
      },
    ).option('--comment <text>', 'comment of the transfer'),
    command('mine [blocks]', 'produce blocks immediately (default: 1)', async ({ client, show }, [count = '1']) => {
      let left = numberOf('the number of blocks', count, 1, 10_000);
      let answer: LocalnetAnswer;
      for (; left > 0; left -= BLOCKS_AT_A_TIME) {
        answer = await client.post('mine', { blocks: Math.min(left, BLOCKS_AT_A_TIME) });
      }
      show(answer, minedText);
    }),
    command('pause', 'stop block production until resume', async ({ client, show }) =>
      show(await client.post('pause'), statusText),
    ),
    command('resume', 'resume block production', async ({ client, show }) =>
      show(await client.post('resume'), statusText),
    ),
    command(
      'mining <mode>',
      'auto: a block as soon as a message waits; steady: one per block time',
      async (session, [mode]) => {
        const { client, show } = session;
        show(
          await client.post('mining', { mode: keywordOf('the mode of mining', mode!, ['auto', 'steady']) }),
          statusText,
        );
      },
    ),
    command(
      'block-time <milliseconds>',
      'produce a block each so many milliseconds',
      async ({ client, show }, [text]) => {
        const milliseconds = numberOf('the time between blocks', text!, 1, 2 ** 31 - 1);
        show(await client.post('block-time', { milliseconds }), statusText);
      },
    ),
    command(
      'time <change>',
      'move the time forward, by +1h, 90s, 30m, 7d or 1y; slow, real: let the clock of this computer catch up',
      async ({ client, show }, [text]) => {
        const speed = SPEEDS.get(text!);
        if (speed === undefined) return show(await client.post('time', { advance: secondsOf(text!) }), minedText);
        await client.post('time', { speed });
        show(await client.get('status'), statusText);
      },
    ),
    command<{ readonly balance?: string; readonly code?: string; readonly data?: string }>(
      'account <address>',
      'override balance, code or data of an account; other fields stay',
      async ({ client, show }, [address], { balance, code, data }) => {
        const parameters = {
          address,
          ...(balance === undefined ? {} : { balance: nanotonsOf('--balance', balance) }),
          ...(code === undefined ? {} : { code: cellOrNone(code) }),
          ...(data === undefined ? {} : { data: cellOrNone(data) }),
        };
        if (Object.keys(parameters).length === 1) {
          throw cliErrors.usage({
            problem: 'tern localnet account requires --balance, --code or --data',
          });
        }
        show(await client.post('account', parameters), minedText);
      },
    )
      .option('--balance <ton>', 'new balance in TON')
      .option('--code <cells>', 'new code: a file, hex, base64, - for standard input, or none')
      .option('--data <cells>', 'new data, in the same format'),
    command<{ readonly bounce: boolean; readonly body?: string; readonly init?: string }>(
      'impersonate <from> <to> <ton>',
      'send an internal message from any address; its coins are created',
      async ({ client, show }, [from, to, ton], { bounce, body, init }) => {
        const parameters = {
          ...{ from, to, amount: nanotonsOf('the amount', ton!), bounce },
          ...(body === undefined ? {} : { body: cellArgument(body) }),
          ...(init === undefined ? {} : { init: cellArgument(init) }),
        };
        show(await client.post('impersonate', parameters), (sent) => sentText(sent, client.url));
      },
    )
      .option('--body <cells>', 'message body: a file, hex, base64, or - for standard input (default: empty)')
      .option('--init <cells>', 'StateInit to deploy, in the same format')
      .option('--no-bounce', 'do not bounce the message on failure'),
    command<{ readonly delete?: true }>(
      'config <param> [cells]',
      'set a configuration parameter: a file, hex, base64, or - for standard input',
      async ({ client, show }, [number, cells], flags) => {
        if ((cells === undefined) !== (flags.delete === true)) {
          throw cliErrors.usage({ problem: 'tern localnet config requires either a value or --delete' });
        }
        const param = numberOf('the parameter', number!, -(2 ** 31), 2 ** 31 - 1);
        const value = cells === undefined ? null : cellArgument(cells);
        show(await client.post('config', { param, value }), minedText);
      },
    ).option('--delete', 'delete the parameter'),
    command(
      'seed',
      'deploy DNS with example.ton, a multisig with an order, a library; send an extra currency',
      async ({ client, show }) => show(await client.post('seed'), seededText),
    ),
    ...(['split', 'merge'] as const).map((what) =>
      command(
        `${what} [shard]`,
        what === 'split'
          ? 'split a shard, such as 8000000000000000 (default: the only shard)'
          : 'merge a shard with its sibling (default: the only two shards)',
        async ({ client, show }, [text]) => {
          const shard = await shardArgument(what, text, client);
          show(await client.post(`shards/${what}`, shard), minedText);
        },
      ),
    ),
    command('touch <address>', 'of a fork: import an account from the forked network', async (session, [address]) => {
      const { client, show } = session;
      show(await client.post('touch', { address }), (answer) =>
        answer.block === null ? 'the forked network has no such account, nor has this one\n' : minedText(answer),
      );
    }),
    command(
      'snapshot [action] [name]',
      'remember the state of all accounts for revert; or save, load, list or delete snapshots of the chain',
      snapshot,
    ),
    command('revert <id>', 'give all accounts the state of a snapshot, in a block', async ({ client, show }, [id]) =>
      show(await client.post('revert', { id }), minedText),
    ),
    command('reset', 'replace the chain by a new one', async ({ client, show }) => {
      await client.post('reset');
      show(await client.get('status'), statusText);
    }),
    command<{ readonly state?: true; readonly splitDepth?: string }>(
      'export <folder>',
      'export the chain to a folder, for tern replay, or the states at its head, for tern index --state',
      async ({ client, show }, [path], { state, splitDepth }) => {
        const folder = resolve(path!);
        if (state !== true) {
          if (splitDepth !== undefined) throw cliErrors.usage({ problem: '--split-depth requires --state' });
          const text = (answer: LocalnetAnswer) => `exported ${answer.blocks} blocks to ${answer.folder}\n`;
          return show(await client.post('export', { folder }), text);
        }
        const split_depth = numberOf('--split-depth', splitDepth ?? '0', 0, MAX_SPLIT_BITS);
        show(await client.post('export-state', { folder, split_depth }), exportedStatesText);
      },
    )
      .option('--state', 'write the states of all shards at the head, as nodes write persistent states')
      .option('--split-depth <bits>', 'divide states by account prefixes of this length (default: 0, whole states)'),
    command(
      'check <folder>',
      'check every block of an exported chain by the rules of a validator',
      async (session, [folder]) => {
        // Loaded on demand: this halves the startup time of other commands.
        const { checkChain } = await import('#app/cli/localnet-check.js');
        session.show(checkChain(folder!), chainReportText);
      },
    ),
  ];
}

const snapshot: Action<object> = async ({ client, show }, [action, name]) => {
  if (action === undefined) return show(await client.post('snapshot'), recentText);
  if (action === 'list' && name === undefined) return show(await client.get('snapshots'), snapshotsText);
  if (name === undefined || !(action === 'save' || action === 'load' || action === 'delete')) {
    throw cliErrors.usage({
      problem: 'tern localnet snapshot takes nothing, or save NAME, load NAME, delete NAME or list',
    });
  }
  const answer = await client.post(`snapshots/${action}`, { name });
  if (action === 'load') return show(await client.get('status'), statusText);
  show(answer, action === 'save' ? snapshotText : snapshotsText);
};

function sessionOf(command: Command, { url, json }: CommonFlags, environment: CliEnvironment): Session {
  const { writeOut = (text: string) => void process.stdout.write(text) } = command.configureOutput();
  return {
    client: new LocalnetClient(localnetUrl(url, environment)),
    show: (answer, text) => writeOut(json === true ? `${JSON.stringify(answer, null, 2)}\n` : text(answer)),
  };
}

/** @throws config/bad-setting */
/** The URL of the service: the flag, TERN_URL, or the default. */
export function localnetUrl(flag: string | undefined, environment: CliEnvironment): string {
  const { url } = readSettings(localnetSettings, {
    flags: flag === undefined ? {} : { url: flag },
    environment,
  }).values;
  if (url !== null) return url;
  const { port } = readSettings({ port: devSettings.port }, { flags: {}, environment }).values;
  return `http://127.0.0.1:${port}`;
}

/** Prefix that marks addresses during option parsing; cannot be typed. */
const MARK = '\0';

const MASTERCHAIN_ADDRESS = /^-\d+:/;

/** A command with address arguments: masterchain addresses (`-1:3333…`) start like options but are not. */
class AddressCommand extends Command {
  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    const { operands, unknown } = super.parseOptions(
      args.map((arg) => (MASTERCHAIN_ADDRESS.test(arg) ? MARK + arg : arg)),
    );
    return { operands: operands.map(unmarked), unknown: unknown.map(unmarked) };
  }

  /** An option value may look like an address, too. */
  override setOptionValueWithSource(...[key, value, source]: Parameters<Command['setOptionValueWithSource']>): this {
    return super.setOptionValueWithSource(key, typeof value === 'string' ? unmarked(value) : value, source);
  }
}

function unmarked(arg: string): string {
  return arg.startsWith(MARK) ? arg.slice(MARK.length) : arg;
}

/** Shard parameters of the control API. */
interface ShardParameters {
  readonly shard: string;
  readonly workchain?: number;
}

/**
 * Parses `8000000000000000` or `0:8000000000000000`; without a text, returns the only possible shard.
 * @throws cli/usage when there are several; errors of the client
 */
async function shardArgument(
  what: 'split' | 'merge',
  text: string | undefined,
  client: LocalnetClient,
): Promise<ShardParameters> {
  if (text !== undefined) {
    const match = /^(\d{1,3}):(.*)$/.exec(text);
    return match === null ? { shard: text } : { workchain: Number(match[1]), shard: match[2]! };
  }
  const shards: readonly LocalnetAnswer[] = (await client.get('status')).shards;
  const [first] = shards;
  if (first !== undefined && shards.length === (what === 'split' ? 1 : 2)) return { shard: first.shard };
  const list = shards.map(shortBlockId).join(' ');
  throw cliErrors.usage({ problem: `tern localnet ${what} requires a shard; there are several: ${list}` });
}

/** Reads a BoC argument as base64: a file, hex, base64, or `-` for standard input. @throws cli/input */
function cellArgument(text: string): string {
  const input = readInput(text);
  if (input.source !== 'address') return toBase64(input.bytes);
  throw cliErrors.input({ argument: text.slice(0, 60), problem: 'is an address, not a BoC' });
}

/** As {@link cellArgument}; `none` means null. */
function cellOrNone(text: string): string | null {
  return text === 'none' ? null : cellArgument(text);
}

const NANO = 1_000_000_000n;

/** `1.5` (TON) in nanotons, as a decimal number. @throws cli/usage */
function nanotonsOf(name: string, text: string): string {
  const match = /^(\d{1,20})(?:\.(\d{1,9}))?$/.exec(text);
  if (match !== null) return String(BigInt(match[1]!) * NANO + BigInt((match[2] ?? '').padEnd(9, '0')));
  const problem = `${name} is "${text.slice(0, 40)}"; it must be an amount in TON, such as 5 or 0.25, with up to 9 decimals`;
  throw cliErrors.usage({ problem });
}

/** @param nanotons a decimal number */
function tonOf(nanotons: string): string {
  return `${tons(BigInt(nanotons))} TON`;
}

/** Seconds of a second, a minute, an hour, a day and a year of 365 days. */
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, y: 31_536_000 };

/** `90`, `90s`, `+1h`, `30d` or `1y`, in seconds. @throws cli/usage */
function secondsOf(text: string): number {
  const match = /^\+?(\d{1,10})([smhdy]?)$/.exec(text);
  if (match !== null) return Number(match[1]) * UNITS[match[2] || 's']!;
  throw cliErrors.usage({
    problem: `the time is "${text.slice(0, 40)}"; it must be a duration such as +1h, 90s, 30m, 7d or 1y, or one of ${[...SPEEDS.keys()].join(', ')}`,
  });
}

/** A whole number. @throws cli/usage */
function numberOf(name: string, text: string, least: number, most: number): number {
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw cliErrors.usage({
    problem: `${name} is "${text.slice(0, 40)}"; it must be a whole number from ${least} to ${most}`,
  });
}

/** One of some words. @throws cli/usage */
function keywordOf(name: string, text: string, accepted: readonly string[]): string {
  if (accepted.includes(text)) return text;
  throw cliErrors.usage({ problem: `${name} is "${text.slice(0, 40)}"; it must be ${accepted.join(' or ')}` });
}

/** Speed of a network clock that is ahead, by the word for it. */
const SPEEDS: ReadonlyMap<string, number> = new Map([
  ['real', 0],
  ['slow', 0.5],
  ['on', 1],
]);

/** Formats rows of name and value. */
function lines(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, value]) => `${name.padEnd(width)}${value}\n`).join('');
}

/** `(0,8000000000000000,123)` */
function shortBlockId({ workchain, shard, seqno }: LocalnetAnswer): string {
  return `(${workchain},${BigInt.asUintN(64, BigInt(shard)).toString(16).padStart(16, '0')},${seqno})`;
}

/** `2026-01-31 12:00:00 UTC` */
function timeText(unixSeconds: number): string {
  return `${new Date(unixSeconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function speedText(speed: number): string {
  if (speed === 1) return '';
  return speed === 0 ? '; it stands still until then' : `; it runs at ${speed} of the usual speed until then`;
}

function statusText(status: LocalnetAnswer): string {
  const { head, gen_utime, now, time_offset, clock_speed, block_time, mining, paused, waiting_messages, shards, fork } =
    status;
  const ahead =
    time_offset === 0 ? '' : `, ${durationText(time_offset)} ahead of this computer${speedText(clock_speed)}`;
  const every = mining === 'auto' ? 'as soon as a message waits, else every few seconds' : `every ${block_time} ms`;
  return lines([
    ['head', `${shortBlockId(head)} of ${timeText(gen_utime)}`],
    ['time', `${timeText(now)}${ahead}`],
    ['blocks', paused ? `paused (otherwise ${every})` : every],
    ['waiting', `${waiting_messages} external-in messages`],
    ['shards', shards.map(shortBlockId).join(' ')],
    ...(fork === null ? [] : [['fork', `of ${fork.source} at ${shortBlockId(fork.block)}`] as const]),
  ]);
}

function walletsText({ wallets }: LocalnetAnswer): string {
  return wallets
    .map((wallet: LocalnetAnswer) =>
      lines([
        [wallet.mnemonic === null ? 'faucet' : 'wallet', `${wallet.user_friendly}  ${tonOf(wallet.balance)}`],
        ['version', `${wallet.version}, id ${wallet.wallet_id}`],
        ['public key', wallet.public_key],
        wallet.mnemonic === null ? ['seed', wallet.seed] : ['mnemonic', wallet.mnemonic.join(' ')],
      ]),
    )
    .join('\n');
}

function exportedStatesText({ block, files, bytes, folder }: LocalnetAnswer): string {
  return `exported the states after block ${shortBlockId(block)} to ${folder}: ${files.length} files, ${bytes} bytes\n`;
}

function minedText({ block }: LocalnetAnswer): string {
  return `done in block ${shortBlockId(block)}\n`;
}

function seededText({ items, block }: LocalnetAnswer): string {
  const shown = items.map(({ kind, name, user_friendly, hash, about, created }: LocalnetAnswer) => {
    const identity = hash === null ? '' : `\n  hash ${hash}`;
    return `${created ? 'made ' : 'there'}  ${kind.replace('_', ' ')} ${name}\n  ${user_friendly}${identity}\n  ${about}\n`;
  });
  return `${shown.join('')}as of block ${shortBlockId(block)}\n`;
}

/** @param url of the server, for the trace command */
function sentText({ message_hash, block }: LocalnetAnswer, url: string): string {
  const hash = encodeURIComponent(message_hash);
  return `sent in block ${shortBlockId(block)}\nmessage ${message_hash}\nshow the trace: curl '${url}/api/v3/traces?msg_hash=${hash}'\n`;
}

function recentText({ id, block }: LocalnetAnswer): string {
  return `${id}  ${shortBlockId(block)}  return to it with tern localnet revert ${id}\n`;
}

function snapshotText({ name, head, saved_at }: LocalnetAnswer): string {
  return `${name}  ${shortBlockId(head)}  saved ${timeText(saved_at)}\n`;
}

function snapshotsText({ snapshots }: LocalnetAnswer): string {
  if (snapshots.length === 0) return 'There are no snapshots. Create one with tern localnet snapshot save NAME.\n';
  return snapshots.map(snapshotText).join('');
}

/** Maximum number of listed state overrides. */
const MOST_LISTED = 20;

function chainReportText({ masterchain_blocks, blocks, transactions, messages, changed_by_hand }: ChainReport): string {
  const sums = `${masterchain_blocks} masterchain blocks, ${blocks} blocks in all, ${transactions} transactions, ${messages} messages`;
  const listed = changed_by_hand
    .slice(0, MOST_LISTED)
    .map(({ kind, block, subject }) => `  ${kind} in ${block}: ${subject}\n`);
  const more = changed_by_hand.length - listed.length;
  return [
    `the chain is valid: ${sums}\n`,
    changed_by_hand.length === 0 ? 'no state overrides\n' : `state overrides: ${changed_by_hand.length}\n`,
    ...listed,
    more > 0 ? `  and ${more} more\n` : '',
  ].join('');
}
