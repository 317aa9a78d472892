import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { download, loadGroups, loadNetworks, usualHeadAgeMs } from '#app/config/networks.js';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { toBase64, toHex } from '#kernel/bytes.js';

const testnet = readFileSync('data/networks/testnet.json', 'utf8');
/** A network of its own: another zerostate. */
const other = testnet.replace('gj+B8wb/AmlPk1z1AhVI484rhrUpgSr2oSFIh56VoSg=', toBase64(new Uint8Array(32)));
const away = mkdtempSync(join(tmpdir(), 'tern-networks-'));
const file = (name: string, text: string): string => {
  writeFileSync(join(away, name), text);
  return join(away, name);
};

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url?.startsWith('/testnet.json')) response.end(testnet);
    else if (request.url === '/endless') response.end(Buffer.alloc(5 * 2 ** 20, ' '));
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(away, { recursive: true });
});

const load = (...sources: string[]) =>
  loadNetworks(
    sources.map((source) => ({ name: null, source })),
    { download },
  );

describe('networks that come with Tern', () => {
  it('are mainnet and testnet, with servers, and a trusted block after every hard fork', async () => {
    const networks = await load('mainnet', 'testnet');
    expect(networks.map(({ name }) => name)).toEqual(['mainnet', 'testnet']);
    expect(networks.map(({ config }) => toHex(config.zeroState.root_hash.subarray(0, 4)))).toEqual([
      '17a3a929',
      '823f81f3',
    ]);
    for (const { name, config } of networks) {
      expect(config.servers.length, name).toBeGreaterThan(5);
      for (const { seqno } of config.hardforks) expect(seqno, name).toBeLessThan(config.initBlock.seqno);
    }
  });

  it('are ready with a head of the last minute only, unless they are forks', async () => {
    const [mainnet] = await load('mainnet');
    const { config } = mainnet!;
    expect(await usualHeadAgeMs(config)).toBe(60_000);
    expect(await usualHeadAgeMs({ ...config, incarnation: 'fork' })).toBe(0);
    const [local] = await load(file('other.json', other));
    expect(await usualHeadAgeMs(local!.config)).toBe(0);
  });

  it('are the published ones', () => {
    const published = parseGlobalConfig(readFileSync('vectors/lite/mainnet-global.config.json', 'utf8'), 'vector');
    expect(parseGlobalConfig(readFileSync('data/networks/mainnet.json', 'utf8'), 'data')).toEqual(published);
  });
});

describe('names', () => {
  it('are those of known networks, of files, or as given', async () => {
    const own = file('my.network.config.json', other);
    const copy = file('copy.json', testnet);
    expect((await load(own, copy)).map(({ name }) => name)).toEqual(['my', 'testnet']);
    expect((await load(file('Ää.json', other)))[0]!.name).toBe('network');
    const [named] = await loadNetworks([{ name: 'fast', source: copy }], { download });
    expect(named).toMatchObject({ name: 'fast', source: copy });
  });

  it('are different ones', async () => {
    await expect(load('testnet', file('copy.json', testnet))).rejects.toMatchObject({
      code: 'config/setting-conflict',
      message: expect.stringMatching(/^testnet and \S+copy\.json both have the name "testnet"/),
    });
  });
});

describe('configs', () => {
  it('are downloaded', async () => {
    const [network] = await load(`${url}/testnet.json?x=y`);
    expect(network!.name).toBe('testnet');
    expect(network!.config.servers).toHaveLength(8);
    const [group] = await loadGroups([{ group: 'own', source: `${url}/testnet.json` }], { download });
    expect(group).toMatchObject({ group: 'own', config: { servers: network!.config.servers } });
  });

  it.each([
    [
      'a file that is not there',
      () => '/no/such',
      /^the network config \/no\/such cannot be read: the file does not exist$/,
    ],
    ['a folder', () => away, /cannot be read: EISDIR/],
    ['a page that is not there', () => `${url}/nothing`, /cannot be read: the server responds 404$/],
    ['a page that is too large', () => `${url}/endless`, /cannot be read: it is larger than 4194304 bytes$/],
    ['a server that is not there', () => 'http://127.0.0.1:1/x', /cannot be read: .*(ECONNREFUSED|bad port)/],
  ])('say what is wrong with %s', async (_, source, problem) => {
    await expect(load(source())).rejects.toMatchObject({
      code: 'config/network-list',
      message: expect.stringMatching(problem),
    });
  });

  it('say which field is wrong', async () => {
    const source = file('wrong.json', testnet.replace('"port": 27842', '"port": 0'));
    await expect(load(source)).rejects.toMatchObject({
      code: 'lite/bad-config',
      message: expect.stringContaining('wrong.json: liteservers[0].port is 0'),
    });
  });
});
