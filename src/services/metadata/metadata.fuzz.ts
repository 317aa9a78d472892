import { sanitizeDocument, tokenMetadata } from '#domain/contracts/token-metadata.js';
import type { TernError } from '#kernel/tern-error.js';
import { readDocument } from '#services/metadata/fetch-document.js';
import { readMetadataLink } from '#services/metadata/metadata-link.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import type { Random } from '#test/fuzz/random.js';

const ofMetadata = (error: TernError) => error.code.startsWith('metadata/');

const GATEWAY = 'https://gateway.example.com/base';
const CID = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG';

/** What links are made of, good and bad. */
const PIECES = [
  ...[
    'http:',
    'https:',
    'ipfs:',
    'data:',
    'file:',
    '//',
    '/',
    '\\',
    '@',
    ':',
    '?',
    '#',
    '%',
    '%2e',
    '%2f',
    '%00',
    '..',
    '.',
    ' ',
  ],
  ...[
    'example.com',
    'localhost',
    '127.0.0.1',
    '[::1]',
    '0x7f000001',
    '２１３',
    CID,
    `${CID}/`,
    'ipfs/',
    'application/json',
    ';base64',
  ],
  ...[',', '{"a":1}', 'eyJhIjoxfQ==', '\x01', '\0', '\n', '\ud800', '\u202e', 'ü', '80', '65536', 'a'.repeat(300)],
];

function link(random: Random): Uint8Array {
  let text = random.pick([
    '',
    'http://',
    'https://example.com/',
    `ipfs://${CID}/`,
    'data:application/json,',
    'data:;base64,',
  ]);
  for (let i = random.below(8); i > 0; i--) text += random.pick(PIECES);
  return random.chance(1, 8) ? random.bytes(random.below(200)) : Buffer.from(text);
}

function readLink(input: Uint8Array): void {
  const found = readMetadataLink(new TextDecoder().decode(input), GATEWAY);
  if (found.kind === 'data') return void readDocument(found.bytes);
  const { url, isGateway } = found;
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') throw new RangeError(url.href);
  if (isGateway && !url.href.startsWith(`${GATEWAY}/ipfs/${CID}`))
    throw new RangeError(`above the content: ${url.href}`);
}

const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"name"',
  '"decimals"',
  '"__proto__"',
  '"a\\u0000"',
  '"\\ud800"',
  '1e999',
  '-0',
  '9',
];

function document(random: Random): Uint8Array {
  if (random.chance(1, 4)) return random.bytes(random.below(300));
  let text = '';
  const fields = random.below(200);
  for (let i = 0; i < fields; i++) {
    const key = random.pick([
      'name',
      'symbol',
      'image',
      'description',
      'decimals',
      '_x',
      'k\\u0000',
      `key${i}`,
      'long'.repeat(40),
    ]);
    const value = random.pick([
      '"text"',
      '9',
      'null',
      '[[[[[[[[[[[[1]]]]]]]]]]]]',
      '{"a":{"b\\ud800":"\\u0000"}}',
      `"${'x'.repeat(random.below(3_000))}"`,
    ]);
    text += `${i === 0 ? '' : ','}"${key}":${value}`;
  }
  return Buffer.from(
    random.chance(1, 8) ? Array.from({ length: 40 }, () => random.pick(TOKENS)).join('') : `{${text}}`,
  );
}

function readIt(input: Uint8Array): void {
  const found = readDocument(input);
  const tidy = sanitizeDocument(found);
  const text = JSON.stringify(tidy);
  if (text.length > 60_000 || /\\u0000|\\ud[89a-f]/.test(text)) throw new RangeError('it cannot be stored');
  if (JSON.stringify(sanitizeDocument(JSON.parse(text))) !== text) throw new RangeError('it is not tidy');
  for (const kind of ['jetton_masters', 'nft_items'] as const) tokenMetadata(kind, found, tidy, { content: found });
}

export const fuzzTargets: readonly FuzzTarget[] = [
  { name: 'metadata-link', make: link, run: readLink, allowed: ofMetadata },
  { name: 'metadata-document', make: document, run: readIt, allowed: ofMetadata },
];
