import { describe, expect, it } from 'vitest';
import { readDocument } from '#services/metadata/fetch-document.js';
import { readMetadataLink } from '#services/metadata/metadata-link.js';
import { errorCode, errorOf } from '#test/support/error-code.js';

const GATEWAY = 'https://gateway.example.com';
const CID0 = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG';
const CID1 = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi';

function urlOf(link: string): string {
  const found = readMetadataLink(link, GATEWAY);
  if (found.kind !== 'web') throw new TypeError('expected a link to the web');
  return `${found.isGateway ? 'gateway ' : ''}${found.url.href}`;
}

function dataOf(link: string): unknown {
  const found = readMetadataLink(link, GATEWAY);
  if (found.kind !== 'data') throw new TypeError('expected a data URI');
  return readDocument(found.bytes);
}

describe('a link of a token', () => {
  it.each([
    ['https://example.com/a.json', 'https://example.com/a.json'],
    ['HTTP://EXAMPLE.COM:80/a b.json?c=d#e', 'http://example.com/a%20b.json?c=d'],
    ['\x01https://example.com/new-meta.json', 'https://example.com/new-meta.json'],
    ['  https://example.com./x \n', 'https://example.com/x'],
    ['https://bücher.example/x', 'https://xn--bcher-kva.example/x'],
    [`ipfs://${CID0}`, `gateway ${GATEWAY}/ipfs/${CID0}`],
    [`ipfs://${CID0}/1.json`, `gateway ${GATEWAY}/ipfs/${CID0}/1.json`],
    [`IPFS://${CID1}/a b/ü%20.json?x#y`, `gateway ${GATEWAY}/ipfs/${CID1}/a%20b/%C3%BC%20.json`],
    [`ipfs://ipfs/${CID0}/1.json`, `gateway ${GATEWAY}/ipfs/${CID0}/1.json`],
    [`ipfs:/ipfs/${CID1}/1.json`, `gateway ${GATEWAY}/ipfs/${CID1}/1.json`],
    [`${CID0}/1.json`, `gateway ${GATEWAY}/ipfs/${CID0}/1.json`],
    [`/ipfs/${CID1}`, `gateway ${GATEWAY}/ipfs/${CID1}`],
    [`https://ipfs.io/ipfs/${CID0}/1.json`, `https://ipfs.io/ipfs/${CID0}/1.json`],
  ])('is read: %j', (link, url) => {
    expect(urlOf(link)).toBe(url);
  });

  it.each([
    ['my-custom-stake-address.ton', 'metadata/link'],
    [`${CID0.slice(1)}/1.json`, 'metadata/link'],
    [`${CID0}x`, 'metadata/link'],
    ['ipfs://example.com/1.json', 'metadata/link'],
    ['ipfs://127.0.0.1:80/', 'metadata/link'],
    [`ipfs://${CID0}/../../api/v0/config`, 'metadata/link'],
    [`ipfs://${CID0}/%2e%2e/%2e%2e/api/v0/config`, 'metadata/link'],
    [`ipfs://${CID0}/a%2f..%2f..%2fapi`, 'metadata/link'],
    [`ipfs://${CID0}/a%5c..%5capi`, 'metadata/link'],
    ['http://user:password@example.com/', 'metadata/link'],
    ['unix:/run/postgresql/.s.PGSQL.5432', 'metadata/scheme'],
    [`ipfs://${CID0}/%zz`, 'metadata/link'],
    [`https://example.com/${'a'.repeat(9_000)}`, 'metadata/link'],
    ['https://', 'metadata/link'],
    ['ftp://example.com', 'metadata/scheme'],
    [`ipns://${CID0}`, 'metadata/scheme'],
  ])('is refused: %j', (link, code) => {
    expect(errorCode(() => readMetadataLink(link, GATEWAY))).toBe(code);
  });

  it('is not repeated in full by what is said of it', () => {
    expect(errorOf(() => readMetadataLink(`x${'y'.repeat(100_000)}`, GATEWAY)).message.length).toBeLessThan(300);
    expect(errorOf(() => readMetadataLink(`${'x'.repeat(5_000)}:y`, GATEWAY)).message.length).toBeLessThan(300);
  });
});

it('takes no longer for many spaces within a link', () => {
  expect(errorCode(() => urlOf(`http://a/${' '.repeat(1_000_000)}b`))).toBe('metadata/link');
});

describe('a data URI', () => {
  const base64 = Buffer.from('{"name":"Ümläut"}').toString('base64');
  it.each([
    [`data:application/json;base64,${base64}`],
    [`DATA:application/json;charset=utf-8;BASE64,${base64}`],
    [`data:;base64,${base64.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')}`],
    [`data:application/json;base64,${base64.replaceAll('=', '%3D')}`],
    [`data:application/json;base64,${base64.slice(0, 8)}\n${base64.slice(8)}`],
    ['data:application/json,{"name":"Ümläut"}'],
    ['data:,%7B%22name%22%3A%22%C3%9Cml%C3%A4ut%22%7D'],
    ['data:application/json;utf8,{"name":"Ümläut"}'],
    ['data:application/ld+json,{"name":"Ümläut"}'],
  ])('is read: %s', (link) => {
    expect(dataOf(link)).toEqual({ name: 'Ümläut' });
  });

  it.each([
    ['data:application/json', 'metadata/data-uri'],
    ['data:,%7', 'metadata/data-uri'],
    ['data:,%zz', 'metadata/data-uri'],
    ['data:;base64,{}', 'metadata/data-uri'],
    ['data:;base64,AAAAA', 'metadata/data-uri'],
    ['data:image/svg+xml,<svg/>', 'metadata/content-type'],
    ['data:application/json,[1]', 'metadata/not-json'],
    ['data:application/json,"a"', 'metadata/not-json'],
    ['data:application/json,null', 'metadata/not-json'],
    ['data:,', 'metadata/not-json'],
    ['data:,%ff', 'metadata/not-utf8'],
    ['data:,{"a":"%ed%a0%80"}', 'metadata/not-utf8'],
    [`data:,${'['.repeat(100_000)}`, 'metadata/not-json'],
    // Minutes, if each `=` began a search for the end.
    [`data:;base64,${'='.repeat(1_000_000)}A`, 'metadata/data-uri'],
    [`data:,{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'metadata/not-json'],
  ])('is refused: %.60s', (link, code) => {
    expect(errorCode(() => dataOf(link))).toBe(code);
  });

  it('may have brackets in its texts', () => {
    expect(dataOf(`data:,{"a":"${'['.repeat(100)}\\"[["}`)).toEqual({ a: `${'['.repeat(100)}"[[` });
  });
});
