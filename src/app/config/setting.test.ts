import { describe, expect, it } from 'vitest';
import { flagOf, readSettings, unknownVariables, variableOf } from '#app/config/setting.js';
import { backfillSettings, checkSettings, devSettings, migrateSettings, serveSettings } from '#app/config/settings.js';
import { Address } from '#formats/address/address.js';
import { fromHex } from '#kernel/bytes.js';

const everything = {
  ...migrateSettings,
  ...checkSettings,
  ...backfillSettings,
  ...devSettings,
  ...serveSettings,
};
type Name = keyof typeof everything;

/** For every setting: a text that is accepted with its value, and texts that are not. */
const samples: Record<Name, readonly [good: string, value: unknown, ...bad: string[]]> = {
  network: ['mainnet', [{ name: null, source: 'mainnet' }], 'x='],
  listen: ['testnet=[::1]:8081', [{ network: 'testnet', value: { host: '::1', port: 8081 } }], '8081', 'x:y'],
  hostOf: ['testnet=Test.Example.org', [{ network: 'testnet', host: 'test.example.org' }], 'testnet', 'testnet=', '=x'],
  liteserverGroup: ['own=own.json', [{ group: 'own', source: 'own.json' }], 'own.json', 'own=', 'a/b=c'],
  databaseUrl: [
    'a=postgres://u:p@h/d?x=y',
    [{ network: 'a', url: 'postgres://u:p@h/d?x=y' }],
    'mysql://h/d',
    'a=',
    'h/d',
  ],
  database: ['embedded', 'embedded', 'none'],
  databaseReadUrl: ['postgresql://h/d?x=y', [{ network: null, url: 'postgresql://h/d?x=y' }], 'A=postgresql://h/d'],
  role: ['indexer', 'indexer', 'reader'],
  from: ['genesis', 1, '0', '2147483648', 'newest', '-1'],
  to: ['2147483647', 2_147_483_647, '0', 'now'],
  accounts: ['a.txt', 'a.txt', 'a\0'],
  dnsRoot: [
    'example.org=0:b774d95eb20543f186c06b371ab88ad704f7e256130caf96189368a7d0cb6ccf',
    [
      {
        zone: 'example.org',
        collection: Address.ofParts(0, fromHex(`b774d95eb20543f186c06b371ab88ad704f7e256130caf96189368a7d0cb6ccf`)!),
      },
    ],
    'ton',
    'ton=0:1',
    '.ton=0:b774d95eb20543f186c06b371ab88ad704f7e256130caf96189368a7d0cb6ccf',
  ],
  keep: ['30d', 2_592_000_000, '30', '0d', '36501d', '1.5d', 'forever'],
  indexWorkers: ['2', 2, '0', '65'],
  state: ['states', ['states'], 'a\0'],
  rederive: ['contracts', 'contracts', 'all'],
  workers: ['64', 64, '0', '65'],
  sample: ['100', 100, '0', '1%'],
  databaseConnections: ['1', 1, '0', '1001'],
  apiWorkers: ['auto', null, '0', '65', 'many'],
  textCacheMb: ['0', 0, '-1', 'many'],
  lookUps: ['0', 0, '-1', '100001'],
  lookUpConcurrency: ['32', 32, '0', '1001'],
  queryTimeout: ['0.05', 50, '0', '601'],
  index: ['off', 'off', 'no'],
  metadata: ['off', 'off', 'yes'],
  metadataOverrides: ['o.json', 'o.json', 'a\0'],
  metadataFetches: ['4', 4, '0', '257'],
  ipfsGateway: [
    'http://127.0.0.1:8080/x/ipfs/',
    'http://127.0.0.1:8080/x',
    'ipfs.io',
    'ftp://a',
    'https://a@b',
    'http://a/?b',
  ],
  replay: ['chain', 'chain', 'a\0'],
  fork: ['chain@7', { source: 'chain', seqno: 7 }, 'chain@0', '@7'],
  port: ['0', 0, '-1', '65536', '1.5', 'http', '0x50'],
  host: ['::1', '::1', 'a b', '1.2.3'],
  data: ['/var/lib/tern', '/var/lib/tern', 'a\0'],
  profile: ['toncenter', 'toncenter', 'Spec', 'v2'],
  explorer: ['off', 'off', 'On', 'no'],
  getMethods: ['node', 'node', 'remote'],
  tvmWorkers: ['2', 2, '0', '257'],
  tvmCpuTime: ['0.25', 250, '0', '61'],
  tvmKeyCpuTime: ['2', 2_000, '0', '61'],
  tvmSlowWorkers: ['0', 0, '-1', '65'],
  tvmEndedTime: ['1.5', 1_500, '-1', '3601'],
  tvmMemory: ['60', 60_000, '-1', '86401'],
  access: ['keys', 'keys', 'closed'],
  plans: ['p.json', 'p.json', 'a\0'],
  redisUrl: ['redis://:secret@localhost', 'redis://:secret@localhost', 'localhost:6379', 'http://x'],
  pending: ['off', 'off', 'yes'],
  maxStreamsPerClient: ['8', 8, '0', 'x'],
  maxStreamAddresses: ['100', 100, '0', 'x'],
  maxStreamAccounts: ['1000', 1000, '0', 'x'],
  maxStreamBufferKb: ['64', 64, '63', 'x'],
  webhooks: ['open', 'open', 'yes'],
  webhookTargets: ['any', 'any', 'private'],
  pendingChannel: ['externals', 'externals', 'x'.repeat(201), 'a b'],
  trustProxy: ['127.0.0.1, 10.0.0.0/8,::1', ['127.0.0.1', '10.0.0.0/8', '::1'], 'yes', '10.0.0.0/33', '1.2.3.4/', '1'],
  cacheMb: ['0', 0, '-1', 'many'],
  nodeCacheMb: ['128', 128, '1e3'],
  requestTimeout: ['2.5', 2_500, '0', '601', '1e2', '10s'],
  maxRequests: ['1', 1, '0'],
  maxWork: ['100', 100, '0'],
  smallWork: ['10', 10, '0'],
  largeWork: ['100', 100, '0'],
  acceptsPerTurn: ['1', 1, '0', '257'],
  turnTime: ['0.01', 10, '0', '2'],
  maxUnbegun: ['100', 100, '0'],
  maxUnbegunPerClient: ['100', 100, '0'],
  maxBodyKb: ['64', 64, '0', '65537'],
  maxBodiesMb: ['64', 64, '0', '65537'],
  maxAnswersMb: ['64', 64, '0', '65537'],
  maxBodyNames: ['100', 100, '0'],
  maxBodyValues: ['100', 100, '0'],
  maxBodyDepth: ['64', 64, '0', '1001'],
  maxLargeAnswers: ['100', 100, '0'],
  maxConnections: ['100', 100, '0'],
  maxConnectionsPerAddress: ['100', 100, '0'],
  maxBodiesPerAddress: ['4', 4, '0'],
  minClientRate: ['0', 0, '-1'],
  maxHeadAge: ['60', 60_000, '-1'],
  maxIndexLag: ['60', 60_000, '-1'],
  drainDelay: ['0', 0, 'x'],
  drainTimeout: ['30', 30_000, '601'],
  mining: ['auto', 'auto', 'fast'],
  blockTime: ['0', 0, '-1', '3600001'],
  signatures: ['ordinary', 'ordinary', 'both'],
  liteserverPort: ['4443', 4443, '65536'],
  logLevel: ['warn', 'warn', 'debug'],
  logInterval: ['1.5', 1_500, '-1'],
  logFormat: ['text', 'text', 'pretty'],
  transactions: ['off', 'off', 'yes'],
  requestLog: ['all', 'all', 'some'],
};

const rows = Object.entries(samples).map(([name, [good, value, ...bad]]) => ({ name: name as Name, good, value, bad }));

describe('every setting', () => {
  it('has a sample here', () => expect(Object.keys(samples).sort()).toEqual(Object.keys(everything).sort()));

  it.each(rows)('is read from a flag and from the environment: $name', ({ name, good, value }) => {
    const table = { [name]: everything[name] };
    const flag = everything[name].isList ? [good] : good;
    const fromFlag = readSettings(table, { flags: { [name]: flag }, environment: { [variableOf(name)]: 'nonsense' } });
    expect(fromFlag.values[name]).toEqual(value);
    expect(fromFlag.texts).toEqual([{ name, origin: 'flag', texts: [good] }]);
    const environment = { [variableOf(name)]: ` ${good} ` };
    const fromEnvironment = readSettings(table, { flags: {}, environment });
    expect(fromEnvironment.values[name]).toEqual(value);
    expect(fromEnvironment.texts[0]!.origin).toBe('environment');
  });

  it.each(rows)('refuses what it does not accept: $name', ({ name, bad }) => {
    expect(bad).not.toEqual([]);
    const table = { [name]: everything[name] };
    for (const text of bad) {
      for (const given of [
        { flags: { [name]: everything[name].isList ? [text] : text }, environment: {} },
        { flags: {}, environment: { [variableOf(name)]: text } },
      ]) {
        expect(() => readSettings(table, given), text).toThrow(
          expect.objectContaining({
            code: 'config/bad-setting',
            data: expect.objectContaining({ accepted: everything[name].accepted }),
          }),
        );
      }
    }
  });

  it.each(rows)('has a default that it accepts itself, or none: $name', ({ name }) => {
    const { isRequired } = everything[name];
    const read = () => readSettings({ [name]: everything[name] }, { flags: {}, environment: {} }).texts;
    if (isRequired) expect(read).toThrow(expect.objectContaining({ code: 'config/missing-setting' }));
    else expect(read()).toEqual([{ name, origin: 'default', texts: everything[name].fallback }]);
  });
});

describe('settings', () => {
  it('name the flag or the variable that is at fault', () => {
    const table = { requestTimeout: serveSettings.requestTimeout };
    expect(() => readSettings(table, { flags: {}, environment: { TERN_REQUEST_TIMEOUT: 'long' } })).toThrow(
      'TERN_REQUEST_TIMEOUT is "long"; accepted: a number of seconds from 0.1 to 600',
    );
    expect(() => readSettings(table, { flags: { requestTimeout: '' }, environment: {} })).toThrow(
      '--request-timeout is ""; accepted: a number of seconds from 0.1 to 600',
    );
  });

  it('do not show a secret that they refuse', () => {
    const table = { redisUrl: serveSettings.redisUrl };
    const read = () => readSettings(table, { flags: {}, environment: { TERN_REDIS_URL: 'hunter2' } });
    expect(read).toThrow('TERN_REDIS_URL is invalid; accepted: redis://');
  });

  it('take lists from the environment with commas between, and empty variables for none', () => {
    const { network, listen } = serveSettings;
    const environment = { TERN_NETWORK: 'mainnet, own=/etc/own.json ,', TERN_LISTEN: '' };
    expect(readSettings({ network, listen }, { flags: {}, environment }).values).toEqual({
      network: [
        { name: null, source: 'mainnet' },
        { name: 'own', source: '/etc/own.json' },
      ],
      listen: [{ network: null, value: { host: '127.0.0.1', port: 8081 } }],
    });
  });

  it('leave the = of paths and URLs alone', () => {
    const { network } = serveSettings;
    const flags = { network: ['https://example.org/config?of=mainnet', './a=b.json'] };
    expect(readSettings({ network }, { flags, environment: {} }).values.network.map(({ source }) => source)).toEqual(
      flags.network,
    );
  });

  it('know trusted proxies by all and none', () => {
    const { trustProxy } = serveSettings;
    for (const [text, value] of [
      ['all', true],
      ['none', false],
    ] as const) {
      expect(readSettings({ trustProxy }, { flags: { trustProxy: text }, environment: {} }).values.trustProxy).toBe(
        value,
      );
    }
  });

  it('find variables with typing errors', () => {
    const environment = { TERN_LISTEM: 'x', TERN_LISTEN: 'y', PATH: 'z' };
    expect(unknownVariables(serveSettings, environment)).toEqual(['TERN_LISTEM']);
  });
});

describe('names', () => {
  it('become flags and variables', () => {
    expect([flagOf('getMethods'), variableOf('getMethods')]).toEqual(['--get-methods', 'TERN_GET_METHODS']);
    expect([flagOf('data'), variableOf('data')]).toEqual(['--data', 'TERN_DATA']);
  });
});
