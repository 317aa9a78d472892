import { readFile } from 'node:fs/promises';
import { configErrors } from '#app/config/errors.js';
import { isNetworkName } from '#app/config/listeners.js';
import {
  integerValue,
  keywordValue,
  listSetting,
  optionalSetting,
  pathValue,
  secondsValue,
  singleSetting,
} from '#app/config/setting.js';
import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { isTernError } from '#kernel/tern-error.js';

/** A database URL with its network. */
export interface DatabaseArgument {
  /** `null` when not specified. */
  readonly network: string | null;
  readonly url: string;
}

/** The role of a process. */
export type IndexRole = 'all' | 'api' | 'indexer';

/** Start of an index: a masterchain seqno, or the newest block at creation. */
export type IndexStart = number | 'now';

const database = {
  placeholder: '[NAME=]URL',
  accepted: 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE; with NAME= for a specific network',
  parse: parseDatabase,
  isSecret: true,
} as const;

/** Maximum masterchain seqno that index ids can represent. */
const MAX_SEQNO = 2 ** 31 - 1;

const seqno = integerValue('N', 1, MAX_SEQNO);

/** Database URL settings. */
export const databaseUrl = listSetting<DatabaseArgument>({
  ...database,
  meaning: 'the PostgreSQL database (15 or later) of the index of a network, which API v3 requires',
});

const databaseReadUrl = listSetting<DatabaseArgument>({
  ...database,
  meaning: 'a replica of this database, for reads',
});

/** The part of the chain to index. */
export const selectionSettings = {
  from: optionalSetting<IndexStart>({
    placeholder: 'N|genesis|now',
    accepted: `a whole number from 1 to ${MAX_SEQNO}, genesis or now`,
    parse: (text) => (text === 'genesis' ? 1 : text === 'now' ? 'now' : seqno.parse(text)),
    meaning:
      'the first masterchain block of the index; default: block 1 if the liteservers have it, otherwise the newest block at creation',
  }),
  accounts: optionalSetting({
    ...pathValue('FILE'),
    meaning:
      'a file of accounts to index, one address per line, and of jettons whose wallets of them are indexed, too (`jetton ADDRESS`); the list must not change; default: all accounts',
  }),
};

/** NFT collections whose items are DNS domains. */
export const dnsRoot = listSetting<DnsRoot>({
  placeholder: 'ZONE=COLLECTION',
  accepted: 'a DNS zone, such as ton or t.me, and the address of its NFT collection',
  parse: parseDnsRoot,
  meaning:
    'an additional NFT collection of DNS domains (TEP-81) besides .ton and .t.me; after a change, `tern index --rederive contracts` updates the index',
});

const workers = integerValue('N', 1, 64);

/** Resources for writing and reading the index. */
export const indexWorkSettings = {
  indexWorkers: optionalSetting({
    ...workers,
    meaning: 'index writer threads per network; default: depends on the CPU cores',
  }),
  databaseConnections: singleSetting({
    ...integerValue('N', 1, 1000),
    fallback: '16',
    meaning:
      'maximum database connections for reading per network; the indexer uses a few more, and each reader thread up to 6',
  }),
  apiWorkers: singleSetting<number | null>({
    placeholder: 'N|auto',
    accepted: 'a whole number from 1 to 64, or auto: one less than the CPU cores, at least 1 and at most 4',
    parse: (text) => (text === 'auto' ? null : workers.parse(text)),
    fallback: 'auto',
    meaning:
      'reader threads per network: they make the large answers of API v3, so that these do not delay other clients, and help when several calls are under way; started when needed',
  }),
  textCacheMb: singleSetting({
    ...integerValue('MB', 0, 1_048_576),
    fallback: '64',
    meaning:
      'size of the cache for texts of final transactions and traces and for the address book, per network and per reader thread; 0 disables it',
  }),
  lookUps: singleSetting({
    ...integerValue('N', 0, 100_000),
    fallback: '1024',
    meaning:
      'accounts that one request to API v3 may have read from the chain because the index has never seen them; 0: none',
  }),
  lookUpConcurrency: singleSetting({
    ...integerValue('N', 1, 1000),
    fallback: '32',
    meaning: 'accounts that are read from the chain at once for all requests to API v3 of a network',
  }),
  queryTimeout: singleSetting({
    ...secondsValue(0.05, 600),
    fallback: '3',
    meaning: 'default timeout of an index query; afterwards it is cancelled',
  }),
};

/** Index settings of `tern serve`. */
export const indexSettings = {
  databaseUrl,
  database: optionalSetting({
    ...keywordValue('embedded'),
    meaning:
      'instead of --database-url: the PostgreSQL that comes with Tern, in the data folder; for one machine and one process',
  }),
  databaseReadUrl,
  role: singleSetting<IndexRole>({
    ...keywordValue('all', 'api', 'indexer'),
    fallback: 'all',
    meaning:
      'the role of this process: everything (all), only serve requests without writing (api), or only write the index, with one leader among several (indexer)',
  }),
  ...selectionSettings,
  dnsRoot,
  keep: singleSetting<number | null>({
    placeholder: 'TIME|all',
    accepted: 'a time from 1h to 36500d, such as 12h or 30d, or all',
    parse: parseKeep,
    fallback: 'all',
    meaning: 'how long transactions remain in the index, by block time; older ones are dropped by partition',
  }),
  ...indexWorkSettings,
};

/** A masterchain seqno setting, for the ends of a range. */
export const seqnoSetting = (meaning: string) => optionalSetting({ ...seqno, meaning });

function parseDatabase(text: string): DatabaseArgument | undefined {
  const at = text.indexOf('=');
  const name = text.slice(0, Math.max(at, 0));
  // URLs may contain `=` in their query.
  const [network, url] = isNetworkName(name) ? [name, text.slice(at + 1)] : [null, text];
  return /^postgres(ql)?:\/\/\S+$/.test(url) ? { network, url } : undefined;
}

/** Dot-separated domain labels. */
const ZONE = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;

function parseDnsRoot(text: string): DnsRoot | undefined {
  const at = text.indexOf('=');
  const zone = text.slice(0, Math.max(at, 0));
  if (!ZONE.test(zone) || zone.length > 126) return undefined;
  try {
    return { zone, collection: parseAddress(text.slice(at + 1)).address };
  } catch (error) {
    if (isTernError(error)) return undefined;
    throw error;
  }
}

const HOUR_MS = 3_600_000;

/** Milliseconds, or `null` for unlimited; `undefined` when invalid. */
function parseKeep(text: string): number | null | undefined {
  if (text === 'all') return null;
  const [, count, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  const hours = Number(count) * (unit === 'd' ? 24 : 1);
  return hours >= 1 && hours <= 36_500 * 24 ? hours * HOUR_MS : undefined;
}

const metadata = {
  ...keywordValue('on', 'off'),
  meaning:
    'whether to fetch off-chain token metadata (TEP-64), by the process that writes the index and from public addresses only',
};

/** Settings of off-chain token metadata (TEP-64). */
export const metadataSettings = {
  metadata: singleSetting({ ...metadata, fallback: 'on' }),
  metadataOverrides: optionalSetting({
    ...pathValue('FILE'),
    meaning: 'a file that overrides the metadata of some tokens; read again when it changes',
  }),
  metadataFetches: singleSetting({
    ...integerValue('N', 1, 256),
    fallback: '16',
    meaning: 'maximum concurrent metadata fetches per network',
  }),
  ipfsGateway: optionalSetting({
    placeholder: 'URL',
    accepted: 'http://HOST[:PORT][/PATH] or https://…, without /ipfs',
    parse: parseGateway,
    meaning: 'the IPFS gateway for metadata links; may be in a private network; default: https://ipfs.io',
  }),
};

/** The same with another default, for local networks and recorded chains. */
export const devMetadataSettings = { ...metadataSettings, metadata: singleSetting({ ...metadata, fallback: 'off' }) };

function parseGateway(text: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href.replace(/\/+$/, '').replace(/\/ipfs$/, '');
}

/** The database of a network. */
export interface NetworkDatabase {
  readonly url: string;
  /** URL of a replica for reads; `null` to read from the primary. */
  readonly readUrl: string | null;
}

/** Database settings. */
export interface DatabaseArguments {
  /** `embedded`: of all networks. */
  readonly database?: 'embedded' | null;
  readonly databaseUrl: readonly DatabaseArgument[];
  readonly databaseReadUrl: readonly DatabaseArgument[];
  readonly role: IndexRole;
}

/**
 * Assigns databases to networks: each network has its own database or none. A URL without a name belongs to the only network.
 *
 * @param networks names
 * @throws config/setting-conflict
 */
export function assignDatabases(
  networks: readonly string[],
  { database: kind = null, databaseUrl, databaseReadUrl, role }: DatabaseArguments,
): ReadonlyMap<string, NetworkDatabase> {
  if (kind === 'embedded') {
    if (databaseUrl.length + databaseReadUrl.length > 0) {
      throw conflict('--database embedded and --database-url are mutually exclusive');
    }
    if (role !== 'all') throw conflict(`--database embedded serves one process; --role ${role} needs --database-url`);
    return new Map();
  }
  const urls = byNetwork('--database-url', networks, databaseUrl);
  const readUrls = byNetwork('--database-read-url', networks, databaseReadUrl);
  for (const name of readUrls.keys()) {
    if (!urls.has(name)) throw conflict(`--database-read-url is set for ${name}, which has no --database-url`);
  }
  const [bare] = role === 'all' ? [] : networks.filter((name) => !urls.has(name));
  if (bare !== undefined) throw conflict(`--role ${role} requires a database, but ${bare} has no --database-url`);
  return new Map([...urls].map(([name, url]) => [name, { url, readUrl: readUrls.get(name) ?? null }]));
}

function byNetwork(
  flag: string,
  networks: readonly string[],
  databases: readonly DatabaseArgument[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { network, url } of databases) {
    const [only, ...others] = networks;
    const name = network ?? only!;
    if (network === null && others.length > 0) {
      throw conflict(`${flag} does not name a network: each of ${networks.join(', ')} requires its own (NAME=URL)`);
    }
    if (!networks.includes(name))
      throw conflict(`${flag} names the network "${name}"; available: ${networks.join(', ')}`);
    if (found.has(name)) throw conflict(`${flag} assigns two databases to ${name}`);
    // URLs are secret and must not be quoted.
    const twin = [...found].find(([, other]) => other === url);
    if (twin !== undefined)
      throw conflict(`${flag} assigns one database to ${twin[0]} and ${name}; each requires its own`);
    found.set(name, url);
  }
  return found;
}

function conflict(problem: string) {
  return configErrors['setting-conflict']({ problem });
}

/** The accounts to index, as a file lists them. */
export interface AccountList {
  readonly accounts: readonly Address[];
  /** Jetton masters: they and the wallets of the accounts for them are indexed, too. */
  readonly jettons: readonly Address[];
}

/**
 * Reads a list of accounts: one address per line in any form, or `jetton` and the address of a jetton master. Duplicates are left out,
 * empty lines and comments (`#`) are ignored.
 *
 * @throws config/account-list
 */
export async function loadAccounts(file: string): Promise<AccountList> {
  const refuse = (problem: string, cause?: unknown) => configErrors['account-list']({ file, problem }, cause);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === 'ENOENT' ? 'the file does not exist' : error.message, error);
  });
  const accounts = new Map<string, Address>();
  const jettons = new Map<string, Address>();
  for (const [number, line] of text.split('\n').entries()) {
    const words = line.replace(/#.*/, '').trim();
    if (words === '') continue;
    const [, kind, word = ''] = /^(jetton\s+)?(.*)$/.exec(words)!;
    try {
      const { address } = parseAddress(word);
      (kind === undefined ? accounts : jettons).set(address.toRaw(), address);
    } catch (error) {
      if (!isTernError(error)) throw error;
      throw refuse(`line ${number + 1}: ${error.message}`, error);
    }
  }
  if (accounts.size === 0) throw refuse('it contains no address of an account');
  return { accounts: [...accounts.values()], jettons: [...jettons.values()] };
}
