import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXPLORER_PAGES } from '#api/http/explorer-routes.js';
import { pathOf, placeOf } from './location.js';
import { searchTarget, searchTargetOrWord } from './search-target.js';

const RAW = '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';
const FRIENDLY = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const HEX = 'f0ca88675637754a77259b27cb924612a5f69f63e59998a659ef4af02ce077dd';
const BASE64 = '8MqIZ1Y3dUp3JZsny5JGEqX2n2PlmZimWe9K8Czgd90=';

const path = (text: string) => {
  const target = searchTarget(text);
  return target.kind === 'page' ? target.path : target.kind === 'hash' ? `hash ${target.hash}` : target.kind;
};

describe('a search', () => {
  it.each([
    [FRIENDLY, `/account/${FRIENDLY}`],
    ['UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI', `/account/${FRIENDLY}`],
    [RAW, `/account/${FRIENDLY}`],
    [RAW.toUpperCase(), `/account/${FRIENDLY}`],
    [` ${FRIENDLY} `, `/account/${FRIENDLY}`],
    [HEX, `hash ${BASE64}`],
    [HEX.toUpperCase(), `hash ${BASE64}`],
    [`0x${HEX}`, `hash ${BASE64}`],
    [BASE64, `hash ${BASE64}`],
    ['8MqIZ1Y3dUp3JZsny5JGEqX2n2PlmZimWe9K8CzgD90', 'hash 8MqIZ1Y3dUp3JZsny5JGEqX2n2PlmZimWe9K8CzgD90='],
    ['123', '/block/-1/8000000000000000/123'],
    ['#7', '/block/-1/8000000000000000/7'],
    ['(-1,8000000000000000,5)', '/block/-1/8000000000000000/5'],
    ['0:4000000000000000:99', '/block/0/4000000000000000/99'],
    ['(0,-9223372036854775808,5)', '/block/0/8000000000000000/5'],
    ['Alice.TON', '/dns/alice.ton'],
    ['wallet.alice.ton', '/dns/wallet.alice.ton'],
    ['te6ccgEBAQEAAgAAAA==', '/message?boc=te6ccgEBAQEAAgAAAA%3D%3D'],
    [`https://tonviewer.com/${FRIENDLY}`, `/account/${FRIENDLY}?network=mainnet`],
    [`http://127.0.0.1:8081/tx/${HEX}?show=tree`, `hash ${BASE64}`],
    [`te6cc${'A'.repeat(4_000)}`, 'problem'],
    ['99999999999', 'problem'],
    ['', 'problem'],
  ])('for %s leads to %s', (text, target) => {
    expect(path(text)).toBe(target);
  });

  it.each([
    [FRIENDLY.replace('D39', 'D38'), 'checksum'],
    [FRIENDLY.slice(0, 47), '47'],
    ['0:83df', '4'],
    [HEX.slice(2), '62'],
  ])('for %s says what is wrong', (text, word) => {
    const target = searchTargetOrWord(text);
    expect(target.kind === 'problem' ? target.problem : target.kind).toContain(word);
  });

  it('takes words for names of jettons', () => {
    expect(searchTargetOrWord('USDT')).toEqual({ kind: 'word', word: 'USDT' });
    expect(searchTargetOrWord('x'.repeat(65)).kind).toBe('problem');
  });
});

describe('an address of a page', () => {
  it('survives what is in its parts', () => {
    for (const part of ['a/b', 'ä', '100%', '?q=1#x', '(-1,8)', RAW]) {
      const made = new URL(pathOf(['dns', part]), 'http://x');
      expect(placeOf(made.pathname, '', '').parts, part).toEqual(['dns', part]);
    }
  });

  it('is read below the mount, also when it is broken', () => {
    expect(placeOf('/explorer/account/x', '?show=nfts', '/explorer').parts).toEqual(['account', 'x']);
    expect(placeOf('/account/%E0%A4%A', '', '').parts).toEqual(['account', '%E0%A4%A']);
  });
});

it('the server serves the page at the paths of all pages', () => {
  const source = readFileSync(new URL('../app.tsx', import.meta.url), 'utf8');
  const tables = source.slice(source.indexOf('const PLAIN'), source.indexOf('/** The page of a place'));
  const roots = [...tables.matchAll(/^ {2}(\w+): [[{]/gm)].map(([, name = '']) => name);
  expect([...new Set([...roots, 'block', 'search'])].sort()).toEqual([...EXPLORER_PAGES].sort());
});
