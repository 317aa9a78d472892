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
  secondsValue,
  singleSetting,
} from '#app/config/setting.js';

/** A network argument of the command line. */
export interface NetworkArgument {
  /** Name; `null` to derive it from the source. */
  readonly name: string | null;
  /** `mainnet`, `testnet`, a file or a URL. */
  readonly source: string;
}

const logLevel = {
  ...keywordValue('info', 'warn', 'silent'),
  meaning: 'log level; the log is written to standard error',
};

const logFormat = singleSetting({
  ...keywordValue('auto', 'text', 'json'),
  fallback: 'auto',
  meaning: 'lines of the log: as text for people, or as JSON; auto: as text where standard error is a terminal',
});

const logInterval = singleSetting({
  ...secondsValue(0, 86_400),
  fallback: '30',
  meaning:
    'how often a warning that repeats is logged: the first in full, then one line with their number per interval; 0 logs all',
});

const network = {
  placeholder: '[NAME=]NETWORK',
  accepted: 'mainnet, testnet, or the file or URL of a global.config.json; with NAME= to set its name',
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
    accepted: 'HOST:PORT, such as 127.0.0.1:8081; with NAME= for one network only',
    parse: (text) => parseForNetwork(text, parseListenAddress),
    fallback: ['127.0.0.1:8081'],
    meaning: 'listening address; with NAME= only for this network',
  }),
  hostOf: listSetting<{ readonly network: string; readonly host: string }>({
    placeholder: 'NAME=HOSTNAME',
    accepted: 'NAME=HOSTNAME, such as testnet=testnet.example.org',
    parse: parseHostOf,
    meaning: 'the host name that selects a network when several share an address',
  }),
  liteserverGroup: listSetting<{ readonly group: string; readonly source: string }>({
    placeholder: 'NAME=NETWORK',
    accepted: 'NAME=FILE, such as partners=partners.config.json',
    parse: parseGroup,
    meaning:
      'a private group of liteservers for API keys whose plan opens it; the zerostate in the file determines the network',
  }),
  ...indexSettings,
  ...metadataSettings,
  ...apiSettings,
  logLevel: singleSetting({ ...logLevel, fallback: 'info' }),
  logInterval,
  logFormat,
};

/** Settings of `tern dev`. */
export const devSettings = {
  replay: optionalSetting({
    ...pathValue('DIR'),
    meaning: 'a recorded chain to serve instead of a local network: archive packs or block files',
  }),
  fork: optionalSetting<ForkSpec>({
    placeholder: 'NETWORK[@SEQNO]',
    accepted:
      'mainnet, testnet, a global.config.json (file or URL) or a folder with a recorded chain; with @SEQNO for a block',
    parse: parseForkSpec,
    meaning:
      'fork this network at its newest masterchain block or at SEQNO: accounts are imported with proofs when first needed',
  }),
  port: singleSetting({
    ...integerValue('N', 0, 65_535),
    fallback: '8081',
    meaning: 'listening port; 0 for a free port',
  }),
  host: singleSetting({
    placeholder: 'HOST',
    accepted: 'a host name or an address of this computer',
    parse: (text) => parseListenAddress(text.includes(':') ? `[${text}]:0` : `${text}:0`)?.host,
    fallback: '127.0.0.1',
    meaning: 'listening address',
  }),
  mining: optionalSetting({
    ...keywordValue('auto', 'steady'),
    meaning:
      'when a local network produces blocks: as soon as a message waits, otherwise one every few seconds (auto), or at the block time (steady); default: auto without --block-time',
  }),
  blockTime: optionalSetting({
    ...integerValue('MS', 0, 3_600_000),
    meaning:
      'block interval of a local network in milliseconds, for steady blocks; 0 for blocks on demand only; default: 400',
  }),
  transactions: singleSetting({
    ...keywordValue('auto', 'on', 'off'),
    fallback: 'auto',
    meaning: 'whether a line per transaction of a local network is printed; auto: where standard output is a terminal',
  }),
  signatures: singleSetting({
    ...keywordValue('simplex', 'ordinary'),
    fallback: 'simplex',
    meaning: 'signature format of a local network: simplex, as on current networks, or ordinary, for older clients',
  }),
  liteserverPort: singleSetting({
    ...integerValue('N', 0, 65_535),
    fallback: '0',
    meaning: 'port of the liteserver of a local network on 127.0.0.1; 0 for a free port',
  }),
  index: singleSetting({
    ...keywordValue('on', 'off'),
    fallback: 'on',
    meaning: 'whether to index the chain, which API v3 requires',
  }),
  databaseUrl: optionalSetting<DatabaseArgument>({
    placeholder: 'URL',
    accepted: 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE',
    parse: databaseUrl.parse as (text: string) => DatabaseArgument | undefined,
    isSecret: true,
    meaning: 'the PostgreSQL database of the index; default: the embedded one, in the data folder',
  }),
  dnsRoot,
  keep: indexSettings.keep,
  ...indexWorkSettings,
  ...devMetadataSettings,
  ...apiSettings,
  profile: { ...apiSettings.profile, fallback: ['toncenter'] },
  // All requests are of one developer, whose tests send many at once: the bounds of one client are those of all.
  maxUnbegunPerClient: { ...apiSettings.maxUnbegunPerClient, fallback: apiSettings.maxUnbegun.fallback },
  maxConnectionsPerAddress: { ...apiSettings.maxConnectionsPerAddress, fallback: apiSettings.maxConnections.fallback },
  maxBodiesPerAddress: { ...apiSettings.maxBodiesPerAddress, fallback: apiSettings.maxUnbegun.fallback },
  webhooks: { ...apiSettings.webhooks, fallback: ['open'] },
  webhookTargets: { ...apiSettings.webhookTargets, fallback: ['any'] },
  logLevel: singleSetting({ ...logLevel, fallback: 'warn' }),
  logInterval,
  logFormat,
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
  to: seqnoSetting('the last masterchain block; default: the newest one'),
  state: listSetting<string>({
    ...pathValue('FILE'),
    accepted: 'the path of a state file, or of a folder of them',
    meaning:
      'instead of filling, import persistent states as nodes write them: the masterchain state and those of all shards after one block, as files or folders of files; continues after an interruption',
  }),
  rederive: optionalSetting({
    ...keywordValue('contracts', 'token_events', 'code_methods', 'first_transactions', 'metadata', 'actions'),
    meaning:
      'instead of filling, derive these rows again from what is indexed; contracts includes token_events and actions. If an indexer runs, it does the work',
  }),
  workers: optionalSetting({
    ...integerValue('N', 1, 64),
    meaning: 'index writer threads; default: depends on the CPU cores',
  }),
  data: apiSettings.data,
  logLevel: singleSetting({ ...logLevel, fallback: 'warn' }),
  logInterval,
  logFormat,
};

/** Settings of `tern check`. */
export const checkSettings = {
  network: oneNetwork,
  databaseUrl: { ...databaseUrl, isRequired: true },
  from: seqnoSetting('the first masterchain block to check; default: the first indexed one'),
  to: seqnoSetting('the last masterchain block to check; default: the last indexed one'),
  accounts: selectionSettings.accounts,
  sample: optionalSetting({
    ...integerValue('N', 1, 1_000_000_000),
    meaning: 'number of masterchain blocks to compare, evenly distributed over the range; default: all',
  }),
  data: apiSettings.data,
  logLevel: singleSetting({ ...logLevel, fallback: 'warn' }),
  logInterval,
  logFormat,
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
  // Paths and URLs may contain `=`, too.
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
    meaning: 'URL of the Tern server with the local network; default: port 8081 of this computer, or TERN_PORT',
  }),
};

/** Without a trailing slash. */
function parseUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href.replace(/\/+$/, '');
}

/** The fork source from the settings. */
export interface ForkSpec {
  /** `mainnet`, `testnet`, a network config (file or URL), or a folder with a recorded chain. */
  readonly source: string;
  /** Masterchain block of the fork; null for the newest. */
  readonly seqno: number | null;
}

const MOST = 2 ** 32 - 1;

/** Parses `SOURCE[@SEQNO]`; undefined when invalid. Paths may contain `@`: only the last one before a number is a separator. */
export function parseForkSpec(text: string): ForkSpec | undefined {
  const [, source = text, digits] = /^(.*)@(\d{1,10})$/s.exec(text) ?? [];
  if (source === '' || source.includes('\0')) return undefined;
  if (digits === undefined) return { source, seqno: null };
  const seqno = Number(digits);
  return seqno >= 1 && seqno <= MOST ? { source, seqno } : undefined;
}
