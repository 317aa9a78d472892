import { isNetworkName } from '#app/config/listen-address.js';
import { many, one, optional, path, seconds, wholeNumber, words } from '#app/config/setting.js';
import type { DnsRoot } from '#domain/contracts/dns-root.js';
import { parseAddress } from '#formats/address/parse-address.js';
import { isTernError } from '#kernel/errors/tern-error.js';

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

const seqno = wholeNumber('N', 1, MAX_SEQNO);

/** One setting for each URL of a database. */
export const databaseUrl = many<DatabaseArgument>({
  ...database,
  meaning: 'the PostgreSQL, 15 or later, that holds the index of a network, which API v3 answers from',
});

export const databaseReadUrl = many<DatabaseArgument>({
  ...database,
  meaning: 'a replica of it, which is read instead',
});

/** Which part of the chain an index is of. */
export const selectionSettings = {
  from: optional<IndexStart>({
    placeholder: 'N|genesis|now',
    accepted: `a whole number from 1 to ${MAX_SEQNO}, genesis or now`,
    parse: (text) => (text === 'genesis' ? 1 : text === 'now' ? 'now' : seqno.parse(text)),
    meaning:
      'the masterchain block that the index begins with; default: the first one where liteservers have it, else the newest one when the index is begun',
  }),
  accounts: optional({
    ...path('FILE'),
    meaning: 'the accounts to index, an address on each line; the same list each time; default: all of them',
  }),
};

/** Whose items are domains. */
export const dnsRoot = many<DnsRoot>({
  placeholder: 'ZONE=COLLECTION',
  accepted: 'a zone, such as ton or t.me, and the address of the NFT collection whose items are its domains',
  parse: parseDnsRoot,
  meaning:
    'a further collection whose items are domains (TEP-81), besides those of .ton and .t.me; after a change `tern index --rederive contracts` looks at what is indexed',
});

/** How the index is written and read. */
export const indexWorkSettings = {
  indexWorkers: optional({
    ...wholeNumber('N', 1, 64),
    meaning: 'threads that write the index of a network; default: as the cores of the machine allow',
  }),
  databaseConnections: one({
    ...wholeNumber('N', 1, 1000),
    fallback: '16',
    meaning: 'connections for reading the index of a network at most; the indexer has a few more',
  }),
  queryTimeout: one({
    ...seconds(0.05, 600),
    fallback: '3',
    meaning: 'how long a query of the index may take, where the request does not say; then it is cancelled',
  }),
};

/** Settings of the index, for `tern serve`. */
export const indexSettings = {
  databaseUrl,
  databaseReadUrl,
  role: one<IndexRole>({
    ...words('all', 'api', 'indexer'),
    fallback: 'all',
    meaning:
      'what this process does: everything; only answer requests, and never write (api); or only write the index, one of several at a time (indexer)',
  }),
  ...selectionSettings,
  dnsRoot,
  keep: one<number | null>({
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
export const seqnoSetting = (meaning: string) => optional({ ...seqno, meaning });

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
