import { isIP } from 'node:net';
import {
  integerValue,
  keywordValue,
  optionalSetting,
  pathValue,
  type SettingValues,
  secondsValue,
  singleSetting,
} from '#app/config/setting.js';

/** Settings of everything that serves the API. */
export const apiSettings = {
  data: singleSetting({
    ...pathValue('DIR'),
    fallback: '.tern',
    meaning: 'where proven key blocks, API keys and their usage are kept',
  }),
  profile: singleSetting({
    ...keywordValue('spec', 'toncenter'),
    fallback: 'spec',
    meaning: 'the wire dialect of answers to requests that choose none: the published document, or the live service',
  }),
  getMethods: singleSetting({
    ...keywordValue('auto', 'local', 'node'),
    fallback: 'auto',
    meaning:
      'where get-methods run: here on proven state (local), on a liteserver (node), or here as long as the network is not newer than the virtual machine (auto)',
  }),
  tvmWorkers: optionalSetting({
    ...integerValue('N', 1, 256),
    meaning: 'threads for get-methods, of each network; default: the cores of the machine, shared among the networks',
  }),
  access: singleSetting({
    ...keywordValue('open', 'keys'),
    fallback: 'open',
    meaning: 'who may ask: everybody without limit, or by API key, and without a key once a second',
  }),
  plans: optionalSetting({
    ...pathValue('FILE'),
    meaning: 'the plans that API keys are on; default: plans.json in the data folder, else those that come with Tern',
  }),
  redisUrl: optionalSetting({
    placeholder: 'URL',
    accepted: 'redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS',
    parse: (text) => (/^rediss?:\/\/\S+$/.test(text) ? text : undefined),
    isSecret: true,
    meaning: 'a Redis that shares the limits among several processes',
  }),
  trustProxy: singleSetting<boolean | readonly string[]>({
    placeholder: 'all|none|NETS',
    accepted: 'all, none, or addresses and nets with commas between, as 127.0.0.1,10.0.0.0/8',
    parse: parseTrustProxy,
    fallback: 'none',
    meaning: 'the proxies whose X-Forwarded-For tells the address of the client',
  }),
  cacheMb: singleSetting({
    ...integerValue('MB', 0, 1_048_576),
    fallback: '64',
    meaning: 'memory for answers that may be given again, of each address listened on; 0 keeps none',
  }),
  nodeCacheMb: singleSetting({
    ...integerValue('MB', 0, 1_048_576),
    fallback: '64',
    meaning: 'memory for what liteservers answered and stays true, of each network; 0 keeps none',
  }),
  requestTimeout: singleSetting({
    ...secondsValue(0.1, 600),
    fallback: '10',
    meaning: 'how long a request may take; then it gets 504',
  }),
  maxRequests: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '4096',
    meaning: 'requests being worked on at a time; more of them get 503',
  }),
  maxConnections: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '20000',
    meaning: 'open connections of clients; more of them are closed at once',
  }),
  maxHeadAge: singleSetting({
    ...secondsValue(0, 86_400),
    fallback: '0',
    meaning: 'how old the newest block may be before /readyz says 503; 0 for any age, as of recorded chains',
  }),
  drainDelay: singleSetting({
    ...secondsValue(0, 600),
    fallback: '0',
    meaning: 'on SIGTERM, how long /readyz says 503 before new connections are refused, so that balancers see it',
  }),
  drainTimeout: singleSetting({
    ...secondsValue(0, 600),
    fallback: '10',
    meaning: 'on SIGTERM, how long requests under way may take to end',
  }),
  requestLog: singleSetting({
    ...keywordValue('all', 'failures', 'none'),
    fallback: 'failures',
    meaning: 'which requests are logged; failures are those answered with 5xx',
  }),
};

export type ApiSettings = SettingValues<typeof apiSettings>;

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
