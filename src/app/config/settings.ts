import { apiSettings } from '#app/config/api-settings.js';
import {
  type DatabaseArgument,
  databaseUrl,
  devMetadataSettings,
  dnsRoot,
  indexSettings,
  indexWorkSettings,
  metadataSettings,
  selectionSettings,
  seqnoSetting,
} from '#app/config/index-settings.js';
import { type ForNetwork, isNetworkName, parseForNetwork, parseListenAddress } from '#app/config/listeners.js';
import {
  integerValue,
  keywordValue,
  listSetting,
  optionalSetting,
  pathValue,
  requiredSetting,
  type SettingValues,
  singleSetting,
} from '#app/config/setting.js';

/** A network as it is named on the command line. */
export interface NetworkArgument {
  /** What it is to be called; `null` for a name made from the source. */
  readonly name: string | null;
  /** `mainnet`, `testnet`, a file or a URL. */
  readonly source: string;
}

const logLevel = {
  ...keywordValue('info', 'warn', 'silent'),
  meaning: 'what is logged, as lines of JSON to standard error',
};

const network = {
  placeholder: '[NAME=]NETWORK',
  accepted: 'mainnet, testnet, or the file or URL of a global.config.json; with NAME= to call it so',
  parse: parseNetworkArgument,
};

/** Settings of `tern serve`. */
export const serveSettings = {
  network: listSetting<NetworkArgument>({
    ...network,
    isRequired: true,
    meaning:
      'a network to serve: mainnet, testnet, or the file or URL of a global.config.json; the first is the default',
  }),
  listen: listSetting<ForNetwork<ReturnType<typeof parseListenAddress> & object>>({
    placeholder: '[NAME=]HOST:PORT',
    accepted: 'HOST:PORT, as 127.0.0.1:8081; with NAME= for one network alone',
    parse: (text) => parseForNetwork(text, parseListenAddress),
    fallback: ['127.0.0.1:8081'],
    meaning: 'where to listen; with NAME= only this network is served there',
  }),
  hostOf: listSetting<{ readonly network: string; readonly host: string }>({
    placeholder: 'NAME=HOSTNAME',
    accepted: 'NAME=HOSTNAME, as testnet=testnet.example.org',
    parse: parseHostOf,
    meaning: 'requests for this host name are about this network, where several are served on one address',
  }),
  liteserverGroup: listSetting<{ readonly group: string; readonly source: string }>({
    placeholder: 'NAME=NETWORK',
    accepted: 'NAME=FILE, as partners=partners.config.json',
    parse: parseGroup,
    meaning:
      'a private group of liteservers, for the keys whose plan opens it; the zerostate in the file tells of which network',
  }),
  ...indexSettings,
  ...metadataSettings,
  ...apiSettings,
  logLevel: singleSetting({ ...logLevel, fallback: 'info' }),
};

/** Settings of `tern dev`. */
export const devSettings = {
  replay: optionalSetting({
    ...pathValue('DIR'),
    meaning: 'a recorded chain to serve instead of a local network: packs, or files of blocks',
  }),
  fork: optionalSetting<ForkSpec>({
    placeholder: 'NETWORK[@SEQNO]',
    accepted:
      'mainnet, testnet, a global.config.json (file or URL) or a folder with a recorded chain; with @SEQNO for a block',
    parse: parseForkSpec,
    meaning:
      'the network that a new local network begins from, at its newest masterchain block or at SEQNO: accounts are pulled with proofs when they are first needed, and live on locally',
  }),
  port: singleSetting({
    ...integerValue('N', 0, 65_535),
    fallback: '8081',
    meaning: 'where to listen; 0 for a port that is free',
  }),
  host: singleSetting({
    placeholder: 'HOST',
    accepted: 'a name or an address of this machine',
    parse: (text) => parseListenAddress(text.includes(':') ? `[${text}]:0` : `${text}:0`)?.host,
    fallback: '127.0.0.1',
    meaning: 'the address to listen on',
  }),
  blockTime: singleSetting({
    ...integerValue('MS', 0, 3_600_000),
    fallback: '400',
    meaning: 'milliseconds between the blocks of a local network; 0 for blocks on demand only',
  }),
  signatures: singleSetting({
    ...keywordValue('simplex', 'ordinary'),
    fallback: 'simplex',
    meaning:
      'what the validator of a local network signs: simplex, as networks do today; ordinary, as older clients know it',
  }),
  liteserverPort: singleSetting({
    ...integerValue('N', 0, 65_535),
    fallback: '0',
    meaning: 'where the liteserver of a local network listens, on 127.0.0.1; 0 for a port that is free',
  }),
  index: singleSetting({
    ...keywordValue('on', 'off'),
    fallback: 'on',
    meaning: 'whether the chain is indexed, for API v3',
  }),
  databaseUrl: optionalSetting<DatabaseArgument>({
    placeholder: 'URL',
    accepted: 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE',
    parse: databaseUrl.parse as (text: string) => DatabaseArgument | undefined,
    isSecret: true,
    meaning: 'the PostgreSQL that holds the index; default: one that comes with Tern, in the data folder',
  }),
  dnsRoot,
  ...indexWorkSettings,
  ...devMetadataSettings,
  ...apiSettings,
  logLevel: singleSetting({ ...logLevel, fallback: 'warn' }),
};

const oneNetwork = requiredSetting<NetworkArgument>({
  ...network,
  meaning: 'the network: mainnet, testnet, or the file or URL of a global.config.json',
});

/** Settings of `tern index`. */
export const backfillSettings = {
  network: oneNetwork,
  databaseUrl: { ...databaseUrl, isRequired: true },
  ...selectionSettings,
  dnsRoot,
  to: seqnoSetting('the masterchain block that it ends with; default: the newest one'),
  rederive: optionalSetting({
    ...keywordValue('contracts'),
    meaning:
      'instead of filling, look again at all contracts and token events of what is indexed, also while an indexer runs, which then does it',
  }),
  workers: optionalSetting({
    ...integerValue('N', 1, 64),
    meaning: 'threads that write the index; default: as the cores of the machine allow',
  }),
  data: apiSettings.data,
  logLevel: singleSetting({ ...logLevel, fallback: 'warn' }),
};

/** Settings of `tern check`. */
export const checkSettings = {
  network: oneNetwork,
  databaseUrl: { ...databaseUrl, isRequired: true },
  from: seqnoSetting('the masterchain block that it begins with; default: the first one that is indexed'),
  to: seqnoSetting('the masterchain block that it ends with; default: the last one that is indexed'),
  accounts: selectionSettings.accounts,
  sample: optionalSetting({
    ...integerValue('N', 1, 1_000_000_000),
    meaning: 'how many masterchain blocks to compare, spread evenly over the range; default: all of them',
  }),
  data: apiSettings.data,
  logLevel: singleSetting({ ...logLevel, fallback: 'warn' }),
};

/** Settings of `tern migrate`. */
export const migrateSettings = { databaseUrl: { ...databaseUrl, isRequired: true } };

export type BackfillSettings = SettingValues<typeof backfillSettings>;
export type CheckSettings = SettingValues<typeof checkSettings>;
export type ServeSettings = SettingValues<typeof serveSettings>;
export type DevSettings = SettingValues<typeof devSettings>;

function parseNetworkArgument(text: string): NetworkArgument | undefined {
  if (text.includes('\0')) return undefined;
  const at = text.indexOf('=');
  const name = text.slice(0, Math.max(at, 0));
  // Paths and URLs may have a `=` in them, too.
  if (!isNetworkName(name)) return { name: null, source: text };
  return at + 1 < text.length ? { name, source: text.slice(at + 1) } : undefined;
}

function parseHostOf(text: string): { network: string; host: string } | undefined {
  const named = parseForNetwork(text, (host) => (/^[A-Za-z0-9.-]{1,253}$/.test(host) ? host.toLowerCase() : undefined));
  return named?.network == null ? undefined : { network: named.network, host: named.value };
}

function parseGroup(text: string): { group: string; source: string } | undefined {
  const { name, source } = parseNetworkArgument(text) ?? {};
  return name == null || source === undefined ? undefined : { group: name, source };
}

/** Settings of `tern localnet`. */
export const localnetSettings = {
  url: optionalSetting({
    placeholder: 'URL',
    accepted: 'http://HOST[:PORT] or https://…',
    parse: parseUrl,
    meaning: 'where the Tern with the local network listens; default: port 8081 of this machine, or that of TERN_PORT',
  }),
};

/** Without a slash at the end. */
function parseUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href.replace(/\/+$/, '');
}

/** What is to be forked, as it was named. */
export interface ForkSpec {
  /** `mainnet`, `testnet`, a network config (file or URL), or a folder with a recorded chain. */
  readonly source: string;
  /** Masterchain block from which on the chain is local; null for the newest one. */
  readonly seqno: number | null;
}

const MOST = 2 ** 32 - 1;

/** Reads `SOURCE[@SEQNO]`; undefined for what is neither. A `@` may be in the path as well: the last one counts, before a number. */
export function parseForkSpec(text: string): ForkSpec | undefined {
  const [, source = text, digits] = /^(.*)@(\d{1,10})$/s.exec(text) ?? [];
  if (source === '' || source.includes('\0')) return undefined;
  if (digits === undefined) return { source, seqno: null };
  const seqno = Number(digits);
  return seqno >= 1 && seqno <= MOST ? { source, seqno } : undefined;
}
