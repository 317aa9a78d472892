import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { placeOf } from './location.js';
import { isOtherNetwork, namedNetwork, networkOfLink, networkOfZerostate } from './other-network.js';
import { searchPath, searchTarget } from './search-target.js';

const FRIENDLY = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const OF_TESTNET = 'kQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqKYH';
const HEX = 'f0ca88675637754a77259b27cb924612a5f69f63e59998a659ef4af02ce077dd';

it.each(['mainnet', 'testnet'])('the zerostate of %s is known', (name) => {
  const file = new URL(`../../../data/networks/${name}.json`, import.meta.url);
  const { root_hash } = JSON.parse(readFileSync(file, 'utf8')).validator.zero_state;
  expect(networkOfZerostate(root_hash)).toBe(name);
  expect(networkOfZerostate('')).toBe(null);
});

it.each([
  [`https://tonviewer.com/${FRIENDLY}`, 'mainnet'],
  [`https://testnet.tonviewer.com/${FRIENDLY}`, 'testnet'],
  [`https://test-explorer.toncoin.org/account?account=${FRIENDLY}`, 'testnet'],
  [`https://tonwhales.com/explorer/address/${FRIENDLY}?testnet=true`, 'testnet'],
  [`http://127.0.0.1:8081/account/${FRIENDLY}`, null],
  [`https://contest.example/${FRIENDLY}`, null],
  ['no link', null],
])('the link %s is about %s', (link, network) => {
  expect(networkOfLink(link)).toBe(network);
});

describe('what is pasted', () => {
  it.each([
    [`https://testnet.tonscan.org/address/${FRIENDLY}`, `/account/${FRIENDLY}?network=testnet`],
    [`https://testnet.tonscan.org/tx/${HEX}`, `/search?q=${HEX}&network=testnet`],
    [`https://tonscan.org/tx/${HEX}`, `/search?q=${HEX}&network=mainnet`],
    [OF_TESTNET, `/account/${OF_TESTNET}`],
    [FRIENDLY, `/account/${FRIENDLY}`],
  ])('%s leads to %s', (typed, path) => {
    expect(searchPath(searchTarget(typed))).toBe(path);
  });

  it.each([
    [`/account/${FRIENDLY}?network=testnet`, 'mainnet', true],
    [`/account/${FRIENDLY}?network=testnet`, null, true],
    [`/account/${FRIENDLY}?network=testnet`, 'testnet', false],
    [`/account/${OF_TESTNET}`, 'mainnet', true],
    // Networks of one's own take either form.
    [`/account/${OF_TESTNET}`, null, false],
    [`/account/${OF_TESTNET}`, 'testnet', false],
    [`/account/${FRIENDLY}`, 'testnet', null],
    [`/account/${FRIENDLY}?network=nonsense`, 'mainnet', null],
  ] as const)('%s on %s is of another network: %s', (path, current, isOther) => {
    const { pathname, search } = new URL(path, 'http://x');
    const named = namedNetwork(placeOf(pathname, search, ''));
    expect(named === null ? null : isOtherNetwork(named, current)).toBe(isOther);
  });
});
