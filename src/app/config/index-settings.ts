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

/** A database, and the network that it is of. */
export interface DatabaseArgument {
  /** `null` where it is not said. */
  readonly network: string | null;
  readonly url: string;
}

/** What a process does with the index. */
export type IndexRole = 'all' | 'api' | 'indexer';

/** Where an index begins: a masterchain seqno, or the newest block when the index is begun. */
export type IndexStart = number | 'now';

const database = {
  placeholder: '[NAME=]URL',
  accepted: 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE; with NAME= for the network of this name',
  parse: parseDatabase,
  isSecret: true,
} as const;

/** The greatest masterchain seqno that ids of the index have room for. */
const MAX_SEQNO = 2 ** 31 - 1;

const seqno = integerValue('N', 1, MAX_SEQNO);

/** One setting for each URL of a database. */
export const databaseUrl = listSetting<DatabaseArgument>({
  ...database,
  meaning: 'the PostgreSQL, 15 or later, that holds the index of a network, which API v3 answers from',
});

export const databaseReadUrl = listSetting<DatabaseArgument>({
  ...database,
  meaning: 'a replica of it, which is read instead',
});

/** Which part of the chain an index is of. */
export const selectionSettings = {
  from: optionalSetting<IndexStart>({
    placeholder: 'N|genesis|now',
    accepted: `a whole number from 1 to ${MAX_SEQNO}, genesis or now`,
    parse: (text) => (text === 'genesis' ? 1 : text === 'now' ? 'now' : seqno.parse(text)),
    meaning:
      'the masterchain block that the index begins with; default: the first one where liteservers have it, else the newest one when the index is begun',
  }),
  accounts: optionalSetting({
    ...pathValue('FILE'),
    meaning: 'the accounts to index, an address on each line; the same list each time; default: all of them',
  }),
};

/** Whose items are domains. */
export const dnsRoot = listSetting<DnsRoot>({
  placeholder: 'ZONE=COLLECTION',
  accepted: 'a zone, such as ton or t.me, and the address of the NFT collection whose items are its domains',
  parse: parseDnsRoot,
  meaning:
    'a further collection whose items are domains (TEP-81), besides those of .ton and .t.me; after a change `tern index --rederive contracts` looks at what is indexed',
});

/** How the index is written and read. */
export const indexWorkSettings = {
  indexWorkers: optionalSetting({
    ...integerValue('N', 1, 64),
    meaning: 'threads that write the index of a network; default: as the cores of the machine allow',
  }),
  databaseConnections: singleSetting({
    ...integerValue('N', 1, 1000),
    fallback: '16',
    meaning: 'connections for reading the index of a network at most; the indexer has a few more',
  }),
  queryTimeout: singleSetting({
    ...secondsValue(0.05, 600),
    fallback: '3',
    meaning: 'how long a query of the index may take, where the request does not say; then it is cancelled',
  }),
};

/** Settings of the index, for `tern serve`. */
export const indexSettings = {
  databaseUrl,
  databaseReadUrl,
  role: singleSetting<IndexRole>({
    ...keywordValue('all', 'api', 'indexer'),
    fallback: 'all',
    meaning:
      'what this process does: everything; only answer requests, and never write (api); or only write the index, one of several at a time (indexer)',
  }),
  ...selectionSettings,
  dnsRoot,
  keep: singleSetting<number | null>({
    placeholder: 'TIME|all',
    accepted: 'a time from 1h to 36500d, as 12h or 30d, or all',
    parse: parseKeep,
    fallback: 'all',
    meaning:
      'how long transactions stay in the index, counted from their block; older ones are dropped in large pieces',
  }),
  ...indexWorkSettings,
};

/** A masterchain seqno, for the ends of a range. */
export const seqnoSetting = (meaning: string) => optionalSetting({ ...seqno, meaning });

function parseDatabase(text: string): DatabaseArgument | undefined {
  const at = text.indexOf('=');
  const name = text.slice(0, Math.max(at, 0));
  // URLs have a `=` in their queries.
  const [network, url] = isNetworkName(name) ? [name, text.slice(at + 1)] : [null, text];
  return /^postgres(ql)?:\/\/\S+$/.test(url) ? { network, url } : undefined;
}

/** Labels of a domain, with dots between them. */
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

/** `null` for ever, else milliseconds. `undefined` for what is not accepted. */
function parseKeep(text: string): number | null | undefined {
  if (text === 'all') return null;
  const [, count, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  const hours = Number(count) * (unit === 'd' ? 24 : 1);
  return hours >= 1 && hours <= 36_500 * 24 ? hours * HOUR_MS : undefined;
}

const metadata = {
  ...keywordValue('on', 'off'),
  meaning:
    'whether the links of tokens are followed, from the process that writes the index and to public addresses only, for their names and images',
};

/** Settings of what tokens say of themselves off the chain. */
export const metadataSettings = {
  metadata: singleSetting({ ...metadata, fallback: 'on' }),
  metadataOverrides: optionalSetting({
    ...pathValue('FILE'),
    meaning: 'what is told of some tokens instead of what they say; read again when it changes',
  }),
  metadataFetches: singleSetting({
    ...integerValue('N', 1, 256),
    fallback: '16',
    meaning: 'links of tokens that are followed at the same time, for each network',
  }),
  ipfsGateway: optionalSetting({
    placeholder: 'URL',
    accepted: 'http://HOST[:PORT][/PATH] or https://…, without /ipfs',
    parse: parseGateway,
    meaning:
      'the gateway through which links to IPFS are followed; one in a private network may be named; default: https://ipfs.io',
  }),
};

/** The same for recorded chains, whose links lead nowhere. */
export const devMetadataSettings = { ...metadataSettings, metadata: singleSetting({ ...metadata, fallback: 'off' }) };

function parseGateway(text: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href.replace(/\/+$/, '').replace(/\/ipfs$/, '');
}

/** The database of a network. */
export interface NetworkDatabase {
  readonly url: string;
  /** Of a replica; `null` to read where is written. */
  readonly readUrl: string | null;
}

/** What settings say about databases. */
export interface DatabaseArguments {
  readonly databaseUrl: readonly DatabaseArgument[];
  readonly databaseReadUrl: readonly DatabaseArgument[];
  readonly role: IndexRole;
}

/**
 * Which database is of which network: each has one of its own, or none. A URL without a name is for the only network.
 *
 * @param networks names
 * @throws config/setting-conflict
 */
export function assignDatabases(
  networks: readonly string[],
  { databaseUrl, databaseReadUrl, role }: DatabaseArguments,
): ReadonlyMap<string, NetworkDatabase> {
  const urls = byNetwork('--database-url', networks, databaseUrl);
  const readUrls = byNetwork('--database-read-url', networks, databaseReadUrl);
  for (const name of readUrls.keys()) {
    if (!urls.has(name)) throw conflict(`--database-read-url is for ${name}, which has no --database-url`);
  }
  const [bare] = role === 'all' ? [] : networks.filter((name) => !urls.has(name));
  if (bare !== undefined) throw conflict(`--role ${role} needs a database, and ${bare} has no --database-url`);
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
      throw conflict(`${flag} does not say for which network: each of ${networks.join(', ')} needs its own (NAME=URL)`);
    }
    if (!networks.includes(name))
      throw conflict(`${flag} names the network "${name}"; there is ${networks.join(', ')}`);
    if (found.has(name)) throw conflict(`${flag} gives ${name} two databases`);
    // The texts are secrets and are not quoted.
    const twin = [...found].find(([, other]) => other === url);
    if (twin !== undefined) throw conflict(`${flag} gives ${twin[0]} and ${name} one database; each needs its own`);
    found.set(name, url);
  }
  return found;
}

function conflict(problem: string) {
  return configErrors['setting-conflict']({ problem });
}

/**
 * The addresses in a file, one on each line, in any form, each once. Empty lines, and what follows a `#`, do not count.
 *
 * @throws config/account-list
 */
export async function loadAccounts(file: string): Promise<readonly Address[]> {
  const refuse = (problem: string, cause?: unknown) => configErrors['account-list']({ file, problem }, cause);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === 'ENOENT' ? 'there is no such file' : error.message, error);
  });
  const found = new Map<string, Address>();
  for (const [number, line] of text.split('\n').entries()) {
    const word = line.replace(/#.*/, '').trim();
    if (word === '') continue;
    try {
      const { address } = parseAddress(word);
      found.set(address.toRaw(), address);
    } catch (error) {
      if (!isTernError(error)) throw error;
      throw refuse(`line ${number + 1}: ${error.message}`, error);
    }
  }
  if (found.size === 0) throw refuse('it has no address');
  return [...found.values()];
}
