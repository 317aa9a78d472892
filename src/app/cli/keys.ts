import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { Command, Option } from 'commander';
import { cliErrors } from '#app/cli/errors.js';
import { issuedJson, issuedText, keyJson, keyTable, toJson, usageTable } from '#app/cli/keys/key-tables.js';
import { parseDays, parseGrace, parseId, parseLabel, parseName } from '#app/cli/keys/options.js';
import { systemClock } from '#kernel/clock/system-clock.js';
import type { Logger } from '#kernel/observe/logger.js';
import { KeyAdministration } from '#services/access/key-administration.js';
import { looksLikeApiKey } from '#services/access/key-secret.js';
import { type AccessModules, keysIn, plansIn, usageIn } from '#services/access/start-keyed-access.js';
import { lastUses, usageReport } from '#services/access/usage-report.js';

interface CommonFlags {
  readonly data: string;
  readonly json?: true;
}

interface CreateFlags extends CommonFlags {
  readonly plan: string;
  readonly plans?: string;
  readonly label: string;
  readonly owner?: string;
  readonly network: readonly string[];
}

/** How far back usage is kept. */
const MOST_DAYS = 90;

/** `tern keys`: the API keys of a server that runs with `--access keys`. */
export function keysCommand(): Command {
  const keys = new Command('keys')
    .description('make, list, revoke and rotate API keys, and show what they used')
    .helpCommand(false)
    .allowUnknownOption()
    .action((_flags: object, command: Command) => {
      const [first = '-'] = command.args;
      const problem = first.startsWith('-') ? 'tern keys does nothing alone' : `there is no command "keys ${first}"`;
      throw cliErrors.usage({ problem: `${problem}; it has create, list, revoke, rotate and usage` });
    });
  for (const command of [createCommand(), listCommand(), revokeCommand(), rotateCommand(), usageCommand()]) {
    const data = new Option('--data <folder>', 'the data directory of the server').env('TERN_DATA').default('.tern');
    keys.addCommand(command.addOption(data).option('--json', 'print JSON'));
  }
  return keys;
}

function createCommand(): Command {
  return new Command('create')
    .description('make a key and print it, this one time')
    .option('--plan <name>', 'free, plus, advanced, unlimited, or one of the file of plans', 'free')
    .addOption(
      new Option(
        '--plans <file>',
        'the file of plans (default: plans.json in the data directory, if there is one)',
      ).env('TERN_PLANS'),
    )
    .option('--label <text>', 'what the key is for', '')
    .option('--owner <name>', 'keys of one owner on one plan share its limits')
    .option('--network <name>', 'a network it is for; may be repeated (default: all of the plan)', collect, [])
    .action(async (flags: CreateFlags, command: Command) => {
      const owner = flags.owner === undefined ? null : parseName('--owner', flags.owner);
      const networks = [...new Set(flags.network.map((name) => parseName('--network', name)))];
      const wanted = {
        label: parseLabel(flags.label),
        owner,
        plan: flags.plan,
        networks: networks.length === 0 ? null : networks,
      };
      const plans = plansIn(folderOf(flags), flags.plans || null);
      const issued = await administration(flags, command).create(wanted, plans);
      write(command, flags.json ? issuedJson(issued) : issuedText(issued, plans.forKey(flags.plan)));
    });
}

function listCommand(): Command {
  return new Command('list')
    .description('list the keys; the secrets are not stored')
    .action(async (flags: CommonFlags, command: Command) => {
      const modules = modulesOf(command);
      const keys = await keysIn(folderOf(flags), modules).list();
      const uses = lastUses(await usageReport(usageIn(folderOf(flags), modules), MOST_DAYS, Date.now()));
      write(command, flags.json ? toJson(keys.map((key) => keyJson(key, uses))) : keyTable(keys, uses));
    });
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('refuse a key from now on: within a second in every process that uses the data directory')
    .argument('<id>', 'the id of the key; or the key itself, if that is what was found')
    .action(async (text: string, flags: CommonFlags, command: Command) => {
      const keys = administration(flags, command);
      const record = await keys.revoke(looksLikeApiKey(text) ? await keys.idOf(text) : parseId(text));
      write(command, flags.json ? toJson(keyJson(record)) : `${record.id} was revoked at ${record.revoked_at}\n`);
    });
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description('give a key a new secret; id, plan and limits stay')
    .argument('<id>', 'the id of the key')
    .option('--grace <time>', 'how long the old secret is let in, as 90s, 30m, 1h or 7d', '0')
    .action(async (id: string, flags: CommonFlags & { readonly grace: string }, command: Command) => {
      const issued = await administration(flags, command).rotate(parseId(id), parseGrace(flags.grace));
      write(command, flags.json ? issuedJson(issued) : issuedText(issued, null));
    });
}

function usageCommand(): Command {
  return new Command('usage')
    .description('show what was asked for, by day (UTC), key and network; a server stores it every few seconds')
    .argument('[id]', 'the id of a key (default: all keys, and requests without one)')
    .option('--days <number>', `how many days, today included, up to ${MOST_DAYS}`, '7')
    .action(async (id: string | undefined, flags: CommonFlags & { readonly days: string }, command: Command) => {
      const days = parseDays(flags.days, MOST_DAYS);
      if (id !== undefined) await administration(flags, command).find(parseId(id));
      const all = await usageReport(usageIn(folderOf(flags), modulesOf(command)), days, Date.now());
      const rows = all.filter(({ key }) => id === undefined || key === id);
      write(command, flags.json ? toJson(rows) : usageTable(rows));
    });
}

/** A variable that is empty counts as not set. */
function folderOf({ data }: CommonFlags): string {
  return data || '.tern';
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function administration(flags: CommonFlags, command: Command): KeyAdministration {
  const modules = modulesOf(command);
  return new KeyAdministration({ ...modules, store: keysIn(folderOf(flags), modules) });
}

function modulesOf(command: Command): AccessModules {
  const { writeErr = (text: string) => void process.stderr.write(text) } = command.configureOutput();
  const say: Logger['warn'] = (message, fields = {}) => writeErr(`tern: ${message} ${JSON.stringify(fields)}\n`);
  return {
    clock: systemClock,
    unixTimeMs: Date.now,
    randomBytes: (size) => randomBytes(size),
    logger: { info: say, warn: say },
  };
}

function write(command: Command, text: string): void {
  const { writeOut = (out: string) => void process.stdout.write(out) } = command.configureOutput();
  writeOut(text);
}
