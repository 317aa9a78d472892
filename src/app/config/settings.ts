import { isIP } from 'node:net';
import { type ForNetwork, isNetworkName, parseForNetwork, parseListenAddress } from '#app/config/listen-address.js';
import { many, one, optional, path, type SettingValues, seconds, wholeNumber, words } from '#app/config/setting.js';

/** A network as it is named on the command line. */
export interface NetworkArgument {
  /** What it is to be called; `null` for a name made from the source. */
  readonly name: string | null;
  /** `mainnet`, `testnet`, a file or a URL. */
  readonly source: string;
}

const logLevel = {
  ...words('info', 'warn', 'silent'),
  meaning: 'what is logged, as lines of JSON to standard error',
};

/** Settings of everything that serves the API. */
const apiSettings = {
  data: one({
    ...path('DIR'),
    fallback: '.tern',
    meaning: 'where proven key blocks, API keys and their usage are kept',
  }),
  profile: one({
    ...words('spec', 'toncenter'),
    fallback: 'spec',
    meaning: 'the wire dialect of answers to requests that choose none: the published document, or the live service',
  }),
  getMethods: one({
    ...words('auto', 'local', 'node'),
    fallback: 'auto',
    meaning:
      'where get-methods run: here on proven state (local), on a liteserver (node), or here as long as the network is not newer than the virtual machine (auto)',
  }),
  tvmWorkers: optional({
    ...wholeNumber('N', 1, 256),
    meaning: 'threads for get-methods, of each network; default: the cores of the machine, shared among the networks',
  }),
  access: one({
    ...words('open', 'keys'),
    fallback: 'open',
    meaning: 'who may ask: everybody without limit, or by API key, and without a key once a second',
  }),
  plans: optional({
    ...path('FILE'),
    meaning: 'the plans that API keys are on; default: plans.json in the data folder, else those that come with Tern',
  }),
  redisUrl: optional({
    placeholder: 'URL',
    accepted: 'redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS',
    parse: (text) => (/^rediss?:\/\/\S+$/.test(text) ? text : undefined),
    isSecret: true,
    meaning: 'a Redis that shares the limits among several processes',
  }),
  trustProxy: one<boolean | readonly string[]>({
    placeholder: 'all|none|NETS',
    accepted: 'all, none, or addresses and nets with commas between, as 127.0.0.1,10.0.0.0/8',
    parse: parseTrustProxy,
    fallback: 'none',
    meaning: 'the proxies whose X-Forwarded-For tells the address of the client',
  }),
  cacheMb: one({
    ...wholeNumber('MB', 0, 1_048_576),
    fallback: '64',
    meaning: 'memory for answers that may be given again, of each address listened on; 0 keeps none',
  }),
  nodeCacheMb: one({
    ...wholeNumber('MB', 0, 1_048_576),
    fallback: '64',
    meaning: 'memory for what liteservers answered and stays true, of each network; 0 keeps none',
  }),
  requestTimeout: one({
    ...seconds(0.1, 600),
    fallback: '10',
    meaning: 'how long a request may take; then it gets 504',
  }),
  maxRequests: one({
    ...wholeNumber('N', 1, 1_000_000),
    fallback: '4096',
    meaning: 'requests being worked on at a time; more of them get 503',
  }),
  maxConnections: one({
    ...wholeNumber('N', 1, 1_000_000),
    fallback: '20000',
    meaning: 'open connections of clients; more of them are closed at once',
  }),
  maxHeadAge: one({
    ...seconds(0, 86_400),
    fallback: '0',
    meaning: 'how old the newest block may be before /readyz says 503; 0 for any age, as of recorded chains',
  }),
  drainDelay: one({
    ...seconds(0, 600),
    fallback: '0',
    meaning: 'on SIGTERM, how long /readyz says 503 before new connections are refused, so that balancers see it',
  }),
  drainTimeout: one({
    ...seconds(0, 600),
    fallback: '10',
    meaning: 'on SIGTERM, how long requests under way may take to end',
  }),
  requestLog: one({
    ...words('all', 'failures', 'none'),
    fallback: 'failures',
    meaning: 'which requests are logged; failures are those answered with 5xx',
  }),
};

/** Settings of `tern serve`. */
export const serveSettings = {
  network: many<NetworkArgument>({
    placeholder: '[NAME=]NETWORK',
    accepted: 'mainnet, testnet, or the file or URL of a global.config.json; with NAME= to call it so',
    parse: parseNetworkArgument,
    isRequired: true,
    meaning:
      'a network to serve: mainnet, testnet, or the file or URL of a global.config.json; the first is the default',
  }),
  listen: many<ForNetwork<ReturnType<typeof parseListenAddress> & object>>({
    placeholder: '[NAME=]HOST:PORT',
    accepted: 'HOST:PORT, as 127.0.0.1:8081; with NAME= for one network alone',
    parse: (text) => parseForNetwork(text, parseListenAddress),
    fallback: ['127.0.0.1:8081'],
    meaning: 'where to listen; with NAME= only this network is served there',
  }),
  hostOf: many<{ readonly network: string; readonly host: string }>({
    placeholder: 'NAME=HOSTNAME',
    accepted: 'NAME=HOSTNAME, as testnet=testnet.example.org',
    parse: parseHostOf,
    meaning: 'requests for this host name are about this network, where several are served on one address',
  }),
  liteserverGroup: many<{ readonly group: string; readonly source: string }>({
    placeholder: 'NAME=NETWORK',
    accepted: 'NAME=FILE, as partners=partners.config.json',
    parse: parseGroup,
    meaning:
      'a private group of liteservers, for the keys whose plan opens it; the zerostate in the file tells of which network',
  }),
  ...apiSettings,
  logLevel: one({ ...logLevel, fallback: 'info' }),
};

/** Settings of `tern dev`. */
export const devSettings = {
  replay: optional({
    ...path('DIR'),
    meaning: 'the recorded chain to run on; default: the small one that comes with Tern',
  }),
  port: one({
    ...wholeNumber('N', 0, 65_535),
    fallback: '8081',
    meaning: 'where to listen; 0 for a port that is free',
  }),
  host: one({
    placeholder: 'HOST',
    accepted: 'a name or an address of this machine',
    parse: (text) => parseListenAddress(text.includes(':') ? `[${text}]:0` : `${text}:0`)?.host,
    fallback: '127.0.0.1',
    meaning: 'the address to listen on',
  }),
  ...apiSettings,
  logLevel: one({ ...logLevel, fallback: 'warn' }),
};

export type ServeSettings = SettingValues<typeof serveSettings>;
export type DevSettings = SettingValues<typeof devSettings>;
export type ApiSettings = SettingValues<typeof apiSettings>;

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

function parseTrustProxy(text: string): boolean | readonly string[] | undefined {
  if (text === 'all') return true;
  if (text === 'none') return false;
  const nets = text.split(',').map((net) => net.trim());
  return nets.every(isNet) ? nets : undefined;
}

function isNet(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
