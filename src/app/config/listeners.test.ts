import { describe, expect, it } from 'vitest';
import { assignListeners, parseForNetwork, parseListenAddress } from '#app/config/listeners.js';

const listen = (...texts: string[]) => texts.map((text) => parseForNetwork(text, parseListenAddress)!);
const assigned = (networks: string[], addresses: string[], hostOf: { network: string; host: string }[] = []) =>
  assignListeners(networks, { listen: listen(...addresses), hostOf }).map(({ address, networks }) => [
    address.port,
    networks.join(),
  ]);
const testnetHost = { network: 'testnet', host: 'testnet.example.org' };

describe('addresses to listen on', () => {
  it.each([
    ['127.0.0.1:8081', { host: '127.0.0.1', port: 8081 }],
    ['0.0.0.0:0', { host: '0.0.0.0', port: 0 }],
    ['localhost:65535', { host: 'localhost', port: 65_535 }],
    ['[::1]:80', { host: '::1', port: 80 }],
  ])('are read: %s', (text, address) => expect(parseListenAddress(text)).toEqual(address));

  it.each([
    '8081',
    ':8081',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.300:1',
    '1.2.3:4',
    '::1:80',
    '[::1]',
    '[1]:2',
    'a:65536',
  ])('are refused: %s', (text) => expect(parseListenAddress(text)).toBeUndefined());

  it('may be for one network', () => {
    expect(parseForNetwork('testnet=[::]:1', parseListenAddress)).toEqual({
      network: 'testnet',
      value: { host: '::', port: 1 },
    });
    expect(parseForNetwork('Test Net=[::]:1', parseListenAddress)).toBeUndefined();
  });
});

describe('networks on addresses', () => {
  it('has the one network on every address', () => {
    expect(assigned(['mainnet'], ['a:1', 'b:2'])).toEqual([
      [1, 'mainnet'],
      [2, 'mainnet'],
    ]);
  });

  it('reports several on one address by host name', () => {
    expect(assigned(['mainnet', 'testnet'], ['a:1'], [testnetHost])).toEqual([[1, 'mainnet,testnet']]);
  });

  it('reports several by port', () => {
    expect(assigned(['mainnet', 'testnet'], ['mainnet=a:1', 'testnet=a:2'])).toEqual([
      [1, 'mainnet'],
      [2, 'testnet'],
    ]);
    expect(assigned(['mainnet', 'testnet'], ['a:1', 'testnet=a:2'])).toEqual([
      [1, 'mainnet'],
      [2, 'testnet'],
    ]);
  });

  it('serves one that has both a host name and an address on both', () => {
    expect(assigned(['mainnet', 'testnet'], ['a:1', 'testnet=a:2'], [testnetHost])).toEqual([
      [1, 'mainnet,testnet'],
      [2, 'testnet'],
    ]);
  });

  it.each([
    [
      'two on one address without host names',
      ['mainnet', 'testnet'],
      ['a:1'],
      [],
      /^testnet cannot be distinguished from mainnet/,
    ],
    ['a network without address', ['mainnet', 'testnet'], ['testnet=a:1'], [], /^mainnet is not served/],
    ['an address without network', ['mainnet'], ['a:1', 'mainnet=a:2'], [], /^no network is served on a:1/],
    ['an address twice', ['mainnet'], ['a:1', 'a:1'], [], /^--listen names a:1 twice/],
    ['an unknown network', ['mainnet'], ['x=a:1'], [], /^--listen names the network "x"; available: mainnet$/],
    [
      'an unknown network with a host',
      ['mainnet'],
      ['a:1'],
      [{ network: 'x', host: 'h' }],
      /^--host-of names the network "x"/,
    ],
    [
      'a host of two networks',
      ['mainnet', 'testnet'],
      ['a:1'],
      [testnetHost, { ...testnetHost, network: 'mainnet' }],
      /^--host-of assigns testnet\.example\.org to both testnet and mainnet/,
    ],
  ])('refuses %s', (_, networks, addresses, hostOf, problem) => {
    expect(() => assigned(networks, addresses, hostOf)).toThrow(
      expect.objectContaining({ code: 'config/setting-conflict', message: expect.stringMatching(problem) }),
    );
  });
});
