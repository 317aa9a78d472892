import { expect, it } from 'vitest';
import { parseForkSpec } from '#app/config/settings.js';

it.each([
  ['mainnet', { source: 'mainnet', seqno: null }],
  ['mainnet@40000000', { source: 'mainnet', seqno: 40_000_000 }],
  ['dir/chain@2026/net.json@7', { source: 'dir/chain@2026/net.json', seqno: 7 }],
  ['dir/chain@home', { source: 'dir/chain@home', seqno: null }],
  ['https://user@host/global.config.json', { source: 'https://user@host/global.config.json', seqno: null }],
  ['chain@4294967295', { source: 'chain', seqno: 4_294_967_295 }],
  ['chain@4294967296', undefined],
  ['chain@0', undefined],
  ['@7', undefined],
  ['', undefined],
  ['a\0b', undefined],
])('%j is read as %o', (text, spec) => {
  expect(parseForkSpec(text)).toEqual(spec);
});
