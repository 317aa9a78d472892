import { describe, expect, it } from 'vitest';
import { metadataText } from '#api/v3/address-book.js';
import type { StoredMetadata, TokenFacts } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';

const address = Address.ofParts(0, new Uint8Array(32).fill(0xab));
const owner = Address.ofParts(-1, new Uint8Array(32).fill(0xcd));
const KEY = `0:${'AB'.repeat(32)}`;

/** What is told of one address. */
function told(...tokens: TokenFacts[]) {
  const all = JSON.parse(metadataText(new Map([[address.toRaw(), { address, tokens }]])));
  expect(Object.keys(all)).toEqual([KEY]);
  return all[KEY];
}

const none: StoredMetadata = { uri: null, document: null, override: null, failed: false };
const master = (content: Record<string, unknown>, metadata: Partial<StoredMetadata> | null = null): TokenFacts => ({
  ...{ kind: 'jetton_masters', content },
  metadata: metadata && { ...none, ...metadata },
});
const uri = 'https://example.com/a.json';

describe('metadata', () => {
  it('of a jetton wallet are its balance, owner and jetton', () => {
    expect(told({ kind: 'jetton_wallets', balance: 10n ** 30n, owner, jetton: address })).toEqual({
      is_indexed: true,
      token_info: [
        {
          ...{ valid: true, type: 'jetton_wallets' },
          extra: { balance: `1${'0'.repeat(30)}`, owner: `-1:${'CD'.repeat(32)}`, jetton: KEY },
        },
      ],
    });
  });

  it('that are on the chain are reported at once', () => {
    const { is_indexed, token_info } = told(master({ symbol: 'S', name: 'N', decimals: '9', uri: '' }));
    expect([is_indexed, token_info]).toEqual([
      true,
      [
        {
          ...{ valid: true, type: 'jetton_masters', symbol: 'S', name: 'N', is_nsfw: false, is_scam: false },
          extra: { decimals: '9', uri: '' },
        },
      ],
    ]);
  });

  it('that are still to be read are not reported in part', () => {
    const unknown = { is_indexed: false, token_info: [{ type: 'jetton_masters' }] };
    expect(told(master({ uri, symbol: 'S' }))).toEqual(unknown);
    expect(told(master({ uri, symbol: 'S' }, { uri }))).toEqual(unknown);
    const item = { kind: 'nft_items', index: 2n ** 255n, content: { uri }, metadata: null } as const;
    expect(told(item)).toEqual({
      is_indexed: false,
      token_info: [{ type: 'nft_items', nft_index: String(2n ** 255n) }],
    });
  });

  it('are those of the chain before those of the document', () => {
    const document = { symbol: 'off', name: 'Off', image: 'https://example.com/a.png', social: ['x'] };
    expect(told(master({ uri, symbol: 'ON' }, { uri, document })).token_info).toEqual([
      {
        ...{ valid: true, type: 'jetton_masters', symbol: 'ON', name: 'Off', image: 'https://example.com/a.png' },
        ...{ is_nsfw: false, is_scam: false, extra: { uri, social: ['x'] } },
      },
    ]);
  });

  it('that could not be read, and are not enough without, are invalid', () => {
    const broken = { is_indexed: true, token_info: [{ valid: false, type: 'jetton_masters' }] };
    expect(told(master({ uri }, { uri, failed: true }))).toEqual(broken);
    expect(told(master({}))).toEqual(broken);
    const half = told(master({ uri, symbol: 'S' }, { uri, failed: true }));
    expect(half.token_info[0]).toMatchObject({ valid: true, symbol: 'S' });
    const item = { kind: 'nft_items', index: 7n, content: {}, metadata: null } as const;
    expect(told(item).token_info).toEqual([{ valid: false, type: 'nft_items', nft_index: '7' }]);
  });

  it('of a domain need no name', () => {
    const item = { kind: 'nft_items', index: 7n, content: { domain: 'alice.ton' }, metadata: null } as const;
    expect(told(item).token_info).toEqual([
      {
        ...{ valid: true, type: 'nft_items', nft_index: '7', is_nsfw: false, is_scam: false },
        extra: { domain: 'alice.ton' },
      },
    ]);
  });

  it('are what the operator configures', () => {
    const override = { content: { symbol: 'MINE' }, is_nsfw: true };
    expect(told(master({ uri, symbol: 'S' }, { override })).token_info).toEqual([
      { valid: true, type: 'jetton_masters', symbol: 'MINE', is_nsfw: true, is_scam: false, extra: {} },
    ]);
    const flagged = told(master({ symbol: 'S' }, { override: { is_scam: true } }));
    expect(flagged.token_info[0]).toMatchObject({ symbol: 'S', is_nsfw: false, is_scam: true });
  });

  it('of an address that is several tokens are complete when all are', () => {
    const item = { kind: 'nft_items', index: 7n, content: { uri }, metadata: null } as const;
    const both = told(master({ symbol: 'S' }), item);
    expect(both.is_indexed).toBe(false);
    expect(both.token_info.map(({ type }: { type: string }) => type)).toEqual(['jetton_masters', 'nft_items']);
  });

  it('hold whatever text there is', () => {
    const name = '"\\\u2028</script>\u{1f600}';
    expect(told(master({ symbol: 'S', name })).token_info[0].name).toBe(name);
    expect(metadataText(new Map())).toBe('{}');
  });
});
