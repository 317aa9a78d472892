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

/** Settings of all commands that serve the API. */
export const apiSettings = {
  data: singleSetting({
    ...pathValue('DIR'),
    fallback: '.tern',
    meaning: 'data folder: proven key blocks, API keys and their usage',
  }),
  profile: singleSetting({
    ...keywordValue('spec', 'toncenter'),
    fallback: 'spec',
    meaning: 'the default response profile: spec follows the published document, toncenter the live service',
  }),
  explorer: singleSetting({
    ...keywordValue('on', 'off'),
    fallback: 'on',
    meaning: 'whether to serve the explorer: at / by tern dev, at /explorer by tern serve',
  }),
  getMethods: singleSetting({
    ...keywordValue('auto', 'local', 'node'),
    fallback: 'auto',
    meaning:
      'where get-methods run: locally on proven state (local), on a liteserver (node), or locally unless the network is newer than the TVM of this version (auto)',
  }),
  tvmWorkers: optionalSetting({
    ...integerValue('N', 1, 256),
    meaning: 'TVM worker threads per network; default: the CPU cores, divided among the networks',
  }),
  tvmCpuTime: singleSetting({
    ...secondsValue(0.01, 60),
    fallback: '0.5',
    meaning:
      'maximum CPU time of a get-method or an emulation for clients without an API key; afterwards the response is 422',
  }),
  tvmKeyCpuTime: singleSetting({
    ...secondsValue(0.01, 60),
    fallback: '1',
    meaning: 'the same for clients with an API key',
  }),
  tvmSlowWorkers: optionalSetting({
    ...integerValue('N', 0, 64),
    meaning:
      'TVM worker threads of low priority for slow runs, per network, started when they are needed; 0: slow runs are not separated from quick ones; default: half of the TVM worker threads, at least 1',
  }),
  tvmEndedTime: singleSetting({
    ...secondsValue(0, 3_600),
    fallback: '3',
    meaning:
      'CPU time that runs of a client may take in a minute if they are stopped by a limit or left by the client; afterwards only methods that are known to be quick are run for it, others get 503; 0: any',
  }),
  tvmMemory: singleSetting({
    ...secondsValue(0, 86_400),
    fallback: '300',
    meaning: 'how long get-methods that ran out of gas or CPU time are answered from memory instead of being run again',
  }),
  access: singleSetting({
    ...keywordValue('open', 'keys'),
    fallback: 'open',
    meaning:
      'access control: open for everyone without limits, or by API key, with one request per second without a key',
  }),
  plans: optionalSetting({
    ...pathValue('FILE'),
    meaning: 'the file of API key plans; default: plans.json in the data folder, otherwise the built-in plans',
  }),
  redisUrl: optionalSetting({
    placeholder: 'URL',
    accepted: 'redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS',
    parse: (text) => (/^rediss?:\/\/\S+$/.test(text) ? text : undefined),
    isSecret: true,
    meaning: 'a Redis server that shares the limits and the messages that are pending among processes',
  }),
  pending: singleSetting({
    ...keywordValue('on', 'off'),
    fallback: 'on',
    meaning:
      'whether messages that are sent through this process are emulated and followed until they are final; needs an index',
  }),
  pendingChannel: optionalSetting({
    placeholder: 'NAME',
    accepted: 'the name of a Redis channel, at most 200 characters',
    parse: (text) => (/^[\x21-\x7e]{1,200}$/.test(text) ? text : undefined),
    meaning:
      'a channel of the Redis server to which others publish external-in messages (BoCs in base64), which are followed, too; needs --redis-url',
  }),
  maxStreamsPerClient: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '64',
    meaning: 'open streams of events of one client: a key whose plan does not say it, or an address',
  }),
  maxStreamAddresses: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '4096',
    meaning: 'accounts and traces of one stream of events, where the plan of the key does not say it',
  }),
  maxStreamAccounts: singleSetting({
    ...integerValue('N', 1, 100_000_000),
    fallback: '400000',
    meaning:
      'accounts and traces of all streams of events together, up to 2 kB of memory each; one client may have a quarter',
  }),
  maxStreamBufferKb: singleSetting({
    ...integerValue('KB', 64, 1_048_576),
    fallback: '4096',
    meaning:
      'what is buffered for a client that does not read its stream; beyond, it is closed with a cursor to go on from',
  }),
  webhooks: singleSetting({
    ...keywordValue('off', 'keys', 'open'),
    fallback: 'keys',
    meaning:
      'who may manage webhooks: clients with an API key, anybody (open), or nobody (off); sent by the process that writes the index',
  }),
  webhookTargets: singleSetting({
    ...keywordValue('public', 'any'),
    fallback: 'public',
    meaning: 'where webhooks may go: public servers only, or private networks and this machine as well (any)',
  }),
  trustProxy: singleSetting<boolean | readonly string[]>({
    placeholder: 'all|none|NETS',
    accepted: 'all, none, or comma-separated addresses and subnets, such as 127.0.0.1,10.0.0.0/8',
    parse: parseTrustProxy,
    fallback: 'none',
    meaning: 'the proxies whose X-Forwarded-For header is trusted for the client address',
  }),
  cacheMb: singleSetting({
    ...integerValue('MB', 0, 1_048_576),
    fallback: '64',
    meaning:
      'size of the response cache per listening address, half of it for answers that are kept compressed; 0 disables it',
  }),
  nodeCacheMb: singleSetting({
    ...integerValue('MB', 0, 1_048_576),
    fallback: '32',
    meaning:
      'size of the cache for immutable liteserver answers and unchanged account states per network; 0 disables it',
  }),
  requestTimeout: singleSetting({
    ...secondsValue(0.1, 600),
    fallback: '10',
    meaning: 'timeout of a request; afterwards the response is 504',
  }),
  maxRequests: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '4096',
    meaning: 'maximum requests in flight; further ones get 503',
  }),
  maxWork: singleSetting({
    ...integerValue('UNITS', 1, 1_000_000),
    fallback: '1000',
    meaning:
      'price of all large requests in flight at once, in work units of about 1 ms of CPU time; further ones wait their turn, client by client',
  }),
  smallWork: singleSetting({
    ...integerValue('UNITS', 1, 1_000_000),
    fallback: '8',
    meaning: 'price in work units up to which requests never wait for others',
  }),
  largeWork: singleSetting({
    ...integerValue('UNITS', 1, 1_000_000),
    fallback: '50',
    meaning:
      'price in work units above which requests are large; those between --small-work and it wait apart from them',
  }),
  acceptsPerTurn: singleSetting({
    ...integerValue('N', 1, 256),
    fallback: '32',
    meaning:
      'connections that are accepted in one turn of the event loop; more than 1 needs a process for a moment at the start',
  }),
  turnTime: singleSetting({
    ...secondsValue(0.001, 1),
    fallback: '0.005',
    meaning:
      'how long requests are begun in one turn of the event loop, or as long as the rest of the last turn took if that is longer, up to 10 ms; the others wait, client by client',
  }),
  maxUnbegun: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '4096',
    meaning:
      'maximum requests with an API key that wait to be begun, and of those without; for one more, the oldest of the client with the most gets 503, as do those that have waited for half of --request-timeout while several clients wait',
  }),
  maxUnbegunPerClient: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '256',
    meaning:
      'the same of one client, an API key or an address without one (a /64 with IPv6), or half of the room that is left if that is more',
  }),
  maxBodyKb: singleSetting({
    ...integerValue('KB', 1, 65_536),
    fallback: '1024',
    meaning: 'maximum size of a request body; larger ones get 413',
  }),
  maxBodiesMb: singleSetting({
    ...integerValue('MB', 1, 65_536),
    fallback: '64',
    meaning: 'maximum size of all request bodies that are being received; for more, the one open longest gets 503',
  }),
  maxAnswersMb: singleSetting({
    ...integerValue('MB', 1, 65_536),
    fallback: '64',
    meaning:
      'maximum size of large answers that clients have not taken yet; beyond it, those not taken for 10 s are given up, or further large requests get 503',
  }),
  maxBodyNames: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '5000',
    meaning: 'maximum names in all objects of a JSON body, counted before it is parsed; more get 413',
  }),
  maxBodyValues: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '10000',
    meaning:
      'maximum values of a JSON body: items, members, arrays and objects, counted before it is parsed; more get 413',
  }),
  maxBodyDepth: singleSetting({
    ...integerValue('N', 1, 1_000),
    fallback: '256',
    meaning: 'maximum nesting depth of a JSON body, counted before it is parsed; more get 422',
  }),
  maxLargeAnswers: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '2',
    meaning: 'maximum large requests of one client at once, until their answers are written; further ones wait',
  }),
  maxConnections: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '20000',
    meaning:
      'maximum client connections; a further one takes the place of the one that has been idle longest, if any is',
  }),
  maxConnectionsPerAddress: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '512',
    meaning: 'the same of one client address (of a /64 with IPv6); connections of trusted proxies are not counted',
  }),
  maxBodiesPerAddress: singleSetting({
    ...integerValue('N', 1, 1_000_000),
    fallback: '16',
    meaning:
      'maximum request bodies of one client address (of a /64 with IPv6) that are being received; further ones get 503',
  }),
  minClientRate: singleSetting({
    ...integerValue('BYTES', 0, 1_000_000),
    fallback: '1024',
    meaning:
      'bytes per second that a client must send of a body and take of an answer, over 10 s; slower bodies get 408, and the connection is closed',
  }),
  maxHeadAge: optionalSetting({
    ...secondsValue(0, 86_400),
    meaning:
      'maximum age of the newest block before /readyz responds 503; 0 for any age, as for recorded chains; default: 60 for mainnet and testnet of tern serve, 0 for others',
  }),
  maxIndexLag: singleSetting({
    ...secondsValue(0, 86_400),
    fallback: '0',
    meaning:
      'how far the index may be behind the newest block before /readyz responds 503, as on a replica that gets nothing any more; 0 for any lag, as while an index is being filled',
  }),
  drainDelay: singleSetting({
    ...secondsValue(0, 600),
    fallback: '0',
    meaning:
      'on SIGTERM, how long /readyz responds 503 before new connections are refused, so that load balancers notice',
  }),
  drainTimeout: singleSetting({
    ...secondsValue(0, 600),
    fallback: '10',
    meaning: 'on SIGTERM, how long requests in flight may take to complete',
  }),
  requestLog: singleSetting({
    ...keywordValue('all', 'failures', 'none'),
    fallback: 'failures',
    meaning: 'which requests are logged; failures are responses with 5xx',
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
