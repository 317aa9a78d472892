import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import process from 'node:process';
import { Command, Option } from 'commander';
import { cliErrors } from '#app/cli/errors.js';
import { systemClock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { NAME, NAME_DESCRIPTION } from '#services/access/json-field.js';
import {
  type IssuedKey,
  KEY_ID,
  KeyAdministration,
  type KeyRecord,
  type KeyStore,
  LABEL,
  looksLikeApiKey,
} from '#services/access/keys.js';
import { databasePlace, requireKeysInFolder } from '#services/access/keys-in-database.js';
import { type Plan, quotaText, rateText, workText } from '#services/access/plans.js';
import { type AccessModules, accessDatabase, keysIn, plansIn, usageIn } from '#services/access/start-keyed-access.js';
import { lastUses, type UsageRow, type UsageStore, usageReport } from '#services/access/usage.js';

interface CommonFlags {
  readonly data: string;
  readonly databaseUrl?: string;
  readonly json?: true;
}

interface CreateFlags extends CommonFlags {
  readonly plan: string;
  readonly plans?: string;
  readonly label: string;
  readonly owner?: string;
  readonly network: readonly string[];
  readonly admin?: true;
}

/** Retention of usage in days. */
const MOST_DAYS = 90;

/** `tern keys`: manages the API keys of a server with `--access keys`. */
export function keysCommand(): Command {
  const keys = new Command('keys')
    .description('create, list, revoke and rotate API keys, and show their usage')
    .helpCommand(false)
    .allowUnknownOption()
    .action((_flags: object, command: Command) => {
      const [first = '-'] = command.args;
      const problem = first.startsWith('-') ? 'tern keys requires a subcommand' : `unknown command "keys ${first}"`;
      throw cliErrors.usage({ problem: `${problem}; available: create, list, revoke, rotate, usage` });
    });
  for (const command of [createCommand(), listCommand(), revokeCommand(), rotateCommand(), usageCommand()]) {
    const data = new Option('--data <folder>', 'data folder of the server').env('TERN_DATA').default('.tern');
    const meaning = 'the database of the server, if it has one: its keys are there (default: files in the data folder)';
    const database = new Option('--database-url <url>', meaning).env('TERN_DATABASE_URL');
    keys.addCommand(command.addOption(data).addOption(database).option('--json', 'print JSON'));
  }
  return keys;
}

function createCommand(): Command {
  return new Command('create')
    .description('create a key and print it once')
    .option('--plan <name>', 'free, plus, advanced, unlimited, or a plan of the plans file', 'free')
    .addOption(
      new Option('--plans <file>', 'the plans file (default: plans.json in the data folder, if it exists)').env(
        'TERN_PLANS',
      ),
    )
    .option('--label <text>', 'description of the key', '')
    .option('--admin', 'the key opens the admin API')
    .option('--owner <name>', 'keys of one owner on one plan share its limits')
    .option(
      '--network <name>',
      'a network of the key; may be repeated (default: all networks of the plan)',
      collect,
      [],
    )
    .action(async (flags: CreateFlags, command: Command) => {
      const owner = flags.owner === undefined ? null : parseName('--owner', flags.owner);
      const networks = [...new Set(flags.network.map((name) => parseName('--network', name)))];
      const wanted = {
        label: parseLabel(flags.label),
        owner,
        plan: flags.plan,
        networks: networks.length === 0 ? null : networks,
        ...(flags.admin === true ? ({ admin: true } as const) : {}),
      };
      await withStores(flags, command, async ({ administration, place, plans: stored }) => {
        const plans = plansIn(folderOf(flags), flags.plans || null).with(await stored());
        const issued = await administration.create(wanted, plans);
        const text = flags.json ? issuedJson(issued) : issuedText(issued, plans.forKey(flags.plan), place);
        write(command, text);
      });
    });
}

function listCommand(): Command {
  return new Command('list')
    .description('list all keys; secrets are not stored')
    .action(async (flags: CommonFlags, command: Command) => {
      await withStores(flags, command, async ({ keys: store, usage, place }) => {
        const keys = await store.list();
        const uses = lastUses(await usageReport(usage, MOST_DAYS, Date.now()));
        write(command, flags.json ? prettyJson(keys.map((key) => keyJson(key, uses))) : keyTable(keys, uses, place));
      });
    });
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('revoke a key; takes effect within a second in every process that uses the data folder')
    .argument('<id>', 'id of the key, or the key itself if it was leaked')
    .action(async (text: string, flags: CommonFlags, command: Command) => {
      await withStores(flags, command, async ({ administration: keys }) => {
        const record = await keys.revoke(looksLikeApiKey(text) ? await keys.idOf(text) : parseId(text));
        write(command, flags.json ? prettyJson(keyJson(record)) : `${record.id} was revoked at ${record.revoked_at}\n`);
      });
    });
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description('create a new secret for a key; id, plan and limits stay the same')
    .argument('<id>', 'id of the key')
    .option('--grace <time>', 'how long the old secret remains valid, such as 90s, 30m, 1h or 7d', '0')
    .action(async (id: string, flags: CommonFlags & { readonly grace: string }, command: Command) => {
      await withStores(flags, command, async ({ administration, place }) => {
        const issued = await administration.rotate(parseId(id), parseGrace(flags.grace));
        write(command, flags.json ? issuedJson(issued) : issuedText(issued, null, place));
      });
    });
}

function usageCommand(): Command {
  return new Command('usage')
    .description('show usage by day (UTC), key and network; a server stores it every few seconds')
    .argument('[id]', 'id of a key (default: all keys, and requests without a key)')
    .option('--days <number>', `number of days including today, up to ${MOST_DAYS}`, '7')
    .action(async (id: string | undefined, flags: CommonFlags & { readonly days: string }, command: Command) => {
      const days = parseDays(flags.days, MOST_DAYS);
      await withStores(flags, command, async ({ administration, usage }) => {
        if (id !== undefined) await administration.find(parseId(id));
        const all = await usageReport(usage, days, Date.now());
        const rows = all.filter(({ key }) => id === undefined || key === id);
        write(command, flags.json ? prettyJson(rows) : usageTable(rows));
      });
    });
}

/** An empty variable counts as not set. */
function folderOf({ data }: CommonFlags): string {
  return data || '.tern';
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Where the keys of a server are. */
interface Stores {
  readonly keys: KeyStore;
  readonly usage: UsageStore;
  readonly administration: KeyAdministration;
  /** Plans that are stored with the keys. */
  readonly plans: () => Promise<readonly Plan[]>;
  /** The path of the file of keys, or the database. */
  readonly place: string;
}

/** @throws access/in-database, access/*, store/*, cli/usage */
async function withStores(
  flags: CommonFlags,
  command: Command,
  work: (stores: Stores) => Promise<void>,
): Promise<void> {
  const modules = modulesOf(command);
  const folder = folderOf(flags);
  const url = databaseUrlOf(flags);
  if (url === null) {
    await requireKeysInFolder(folder);
    const keys = keysIn(folder, modules);
    const usage = usageIn(folder, modules);
    const administration = new KeyAdministration({ ...modules, store: keys });
    await work({ keys, usage, administration, plans: async () => [], place: resolve(keys.name) });
    return;
  }
  const database = accessDatabase(folder, url, modules);
  try {
    const { usage } = database;
    const administration = new KeyAdministration({ ...modules, store: database });
    const place = `the database ${databasePlace(url)}`;
    await work({ keys: database, usage, administration, plans: () => database.listPlans(), place });
  } finally {
    await database.close();
  }
}

/** The first of the URLs, as of `tern serve`. An empty variable counts as not set. @throws cli/usage */
function databaseUrlOf({ databaseUrl: given = '' }: CommonFlags): string | null {
  const [first = ''] = given.split(',').map((part) => part.trim().replace(/^[A-Za-z0-9._-]+=(?=postgres)/, ''));
  if (first === '') return null;
  if (/^postgres(ql)?:\/\/\S+$/.test(first)) return first;
  throw cliErrors.usage({ problem: '--database-url must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE' });
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

/** Milliseconds of a second, a minute, an hour and a day. */
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_GRACE_MS = 366 * 86_400_000;

/** `key_0123456789` @throws cli/usage */
function parseId(text: string): string {
  if (KEY_ID.test(text)) return text;
  throw cliErrors.usage({ problem: `"${shortened(text)}" is not a key id, such as key_0123456789` });
}

/** @throws cli/usage */
function parseName(option: string, text: string): string {
  if (NAME.test(text)) return text;
  throw cliErrors.usage({ problem: `${option} is "${shortened(text)}"; it must be ${NAME_DESCRIPTION}` });
}

/** @throws cli/usage */
function parseLabel(text: string): string {
  if (LABEL.test(text)) return text;
  throw cliErrors.usage({ problem: '--label must be one line of at most 200 characters' });
}

/** `0`, `90s`, `30m`, `1h`, `7d`, in milliseconds. @throws cli/usage */
function parseGrace(text: string): number {
  if (text === '0') return 0;
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  const ms = match === null ? Number.NaN : Number(match[1]) * UNITS[match[2]!]!;
  if (ms <= LONGEST_GRACE_MS) return ms;
  throw cliErrors.usage({
    problem: `--grace is "${shortened(text)}"; it must be a time such as 90s, 30m, 1h or 7d, up to 366d`,
  });
}

/** @throws cli/usage */
function parseDays(text: string, most: number): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= most) return days;
  throw cliErrors.usage({ problem: `--days is "${shortened(text)}"; it must be a number from 1 to ${most}` });
}

/** An invalid argument may contain a secret. */
function shortened(text: string): string {
  return text.length > 24 ? `${text.slice(0, 16)}…` : text;
}

type LastUses = ReadonlyMap<string, string>;

/** The `--json` output. */
function prettyJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A key record without its secret hashes. */
function keyJson({ secrets, ...record }: KeyRecord, uses?: LastUses): object {
  const shown = secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at }));
  return { ...record, secrets: shown, ...(uses === undefined ? {} : { last_used: uses.get(record.id) ?? null }) };
}

function issuedJson({ record, key }: IssuedKey): string {
  return prettyJson({ ...keyJson(record), key });
}

/** The output for a new secret, which is shown only once. */
function issuedText({ record, key }: IssuedKey, plan: Plan | null, place: string): string {
  const ending = record.secrets.flatMap(({ expires_at }) => expires_at ?? []);
  const lines: [string, string][] = [
    ['key', key],
    ['id', record.id],
    ['plan', plan === null ? record.plan : `${record.plan} (${limitsInWords(plan)})`],
    ['networks', networksOf(record)],
  ];
  if (record.admin === true) lines.push(['admin', 'opens /admin']);
  lines.push(['stored in', place]);
  for (const moment of ending) lines.push(['old key', `valid until ${moment}`]);
  return `${lines.map(([name, value]) => `${name.padEnd(10)}${value}`).join('\n')}\n\nSave the key now: it is not stored and cannot be shown again.\n`;
}

function keyTable(keys: readonly KeyRecord[], uses: LastUses, place: string): string {
  if (keys.length === 0) return `There are no keys in ${place}. Create one with tern keys create.\n`;
  const rows = keys.map((key) => [
    key.id,
    key.revoked_at === null ? 'active' : `revoked ${minute(key.revoked_at)}`,
    key.plan,
    networksOf(key),
    key.owner ?? '-',
    minute(key.created_at),
    minute(uses.get(key.id) ?? null),
    key.label,
  ]);
  return table(['id', 'state', 'plan', 'networks', 'owner', 'created', 'last used', 'label'], rows);
}

function usageTable(rows: readonly UsageRow[]): string {
  if (rows.length === 0) return 'No requests in this period.\n';
  const lines = rows.map(({ day, key, network, allowed, limited, work, last_used }) => [
    day,
    key,
    network,
    String(allowed),
    String(limited),
    String(work),
    minute(last_used),
  ]);
  return table(['day', 'key', 'network', 'allowed', 'limited', 'work', 'last used'], lines);
}

function limitsInWords({ requests_per_second, daily_quota, work_per_second }: Plan): string {
  const words = [
    ...(requests_per_second === null ? [] : [rateText(requests_per_second)]),
    ...(daily_quota === null ? [] : [quotaText(daily_quota)]),
    ...(work_per_second === null ? [] : [workText(work_per_second)]),
  ];
  return words.length === 0 ? 'no limit' : words.join(', ');
}

function networksOf({ networks }: KeyRecord): string {
  return networks === null ? 'all of the plan' : networks.join(', ');
}

/** `2025-01-31 12:00`, UTC. */
function minute(moment: string | null): string {
  return moment === null ? '-' : moment.slice(0, 16).replace('T', ' ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => rows.reduce((most, row) => Math.max(most, row[i]!.length), name.length));
  const line = (row: readonly string[]): string =>
    row
      .map((text, i) => text.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  return `${[head, ...rows].map(line).join('\n')}\n`;
}
