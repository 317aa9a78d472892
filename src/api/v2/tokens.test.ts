import { describe, expect, it } from 'vitest';
import { adnlText } from '#api/v2/dns.js';
import { tokenEndpoints } from '#api/v2/tokens.js';
import { bocBase64 } from '#api/v2/ton-objects.js';
import type { DnsRecord } from '#domain/contracts/dns-records.js';
import type { TokenData } from '#domain/contracts/token-data.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { fromHex } from '#kernel/bytes.js';
import { callV2 } from '#test/support/v2-method.js';

const address = Address.ofParts(0, new Uint8Array(32).fill(0xab));
const someone = Address.ofParts(-1, new Uint8Array(32).fill(0xcd));
const code = new Builder().storeUint(1, 8).endCell();

async function ask(token: TokenData | null, text = address.toRaw()) {
  const network = { contracts: { tokenData: async () => ({ block: null, token }) } } as never;
  return callV2(tokenEndpoints, 'getTokenData', { address: text }, network);
}

const onchain = { type: 'onchain', data: { name: 'A', decimals: '9', uri: 'https://a' } } as const;
const offchain = { type: 'offchain', data: 'https://b' } as const;
const shown = `0:${'AB'.repeat(32)}`;

describe('getTokenData', () => {
  const rows: readonly [string, TokenData, unknown][] = [
    [
      'a jetton',
      {
        contract_type: 'jetton_master',
        address,
        total_supply: 2n ** 120n,
        mintable: true,
        admin_address: someone,
        jetton_content: onchain,
        jetton_wallet_code: code,
      },
      {
        '@type': 'ext.tokens.jettonMasterData',
        address: shown,
        contract_type: 'jetton_master',
        total_supply: (2n ** 120n).toString(),
        mintable: true,
        admin_address: someone.toFriendly(),
        jetton_content: { type: 'onchain', data: { name: 'A', decimals: '9', uri: 'https://a' } },
        jetton_wallet_code: bocBase64(code),
      },
    ],
    [
      'a wallet of a jetton',
      {
        contract_type: 'jetton_wallet',
        address,
        balance: 5n,
        owner: someone,
        jetton: address,
        jetton_wallet_code: code,
        mintless_is_claimed: false,
      },
      {
        '@type': 'ext.tokens.jettonWalletData',
        address: shown,
        contract_type: 'jetton_wallet',
        balance: '5',
        owner: someone.toFriendly(),
        jetton: address.toFriendly(),
        mintless_is_claimed: false,
        jetton_wallet_code: bocBase64(code),
      },
    ],
    [
      'a collection of nobody',
      {
        contract_type: 'nft_collection',
        address,
        next_item_index: -1n,
        owner_address: null,
        collection_content: offchain,
      },
      {
        '@type': 'ext.tokens.nftCollectionData',
        address: shown,
        contract_type: 'nft_collection',
        next_item_index: '-1',
        collection_content: { type: 'offchain', data: 'https://b' },
      },
    ],
    [
      'an NFT that stands alone',
      {
        contract_type: 'nft_item',
        address,
        init: true,
        index: 2n ** 255n,
        collection_address: null,
        owner_address: someone,
        content: offchain,
      },
      {
        '@type': 'ext.tokens.nftItemData',
        address: shown,
        contract_type: 'nft_item',
        init: true,
        index: (2n ** 255n).toString(),
        owner_address: someone.toFriendly(),
        content: { type: 'offchain', data: 'https://b' },
      },
    ],
  ];
  it.each(rows)('shows %s', async (_name, token, expected) => {
    expect((await ask(token)).result).toEqual(expected);
  });

  it('shows records of a domain by category, and leaves out kinds that have no form', async () => {
    const wallet = fromHex('e8d44050873dba865aa7c170ab4cce64d90839a34dcfd6cf71d14e0205443b1b')!;
    const site = fromHex('fbae041b02c41ed0fd8a4efb039bc780dd6af4a1f0c420f42561ae705dda43fe')!;
    const unnamed = new Uint8Array(32).fill(0xef);
    const bytes = new Uint8Array(32).fill(1);
    const records: readonly [Uint8Array, DnsRecord][] = [
      [wallet, { kind: 'dns_smc_address', smc_addr: someone }],
      [site, { kind: 'dns_adnl_address', adnl_addr: bytes }],
      [unnamed, { kind: 'dns_storage_address', bag_id: bytes }],
      [new Uint8Array(32), { kind: 'dns_text', text: 'left out' }],
      [new Uint8Array(32).fill(1), { kind: 'dns_next_resolver', resolver: address }],
    ];
    const entries = records.map(([category, record]) => ({ category, record }));
    const content = { type: 'domain', domain: 'a.ton', records: { resolver: address, name: '.', entries } } as const;
    const item = { contract_type: 'nft_item', address, init: true, index: 1n, collection_address: address } as const;
    const { result } = await ask({ ...item, owner_address: null, content });
    const smc = (of: Address) => ({
      '@type': 'addr_std',
      workchain_id: of.workchain,
      address: of.toRaw().split(':')[1],
    });
    expect(result).toEqual({
      '@type': 'ext.tokens.nftItemData',
      address: shown,
      contract_type: 'nft_item',
      init: true,
      index: '1',
      collection_address: address.toFriendly(),
      content: {
        domain: 'a.ton',
        data: {
          wallet: { '@type': 'dns_smc_address', smc_addr: smc(someone) },
          site: { '@type': 'dns_adnl_address', adnl_addr: '01'.repeat(32) },
          ['EF'.repeat(32)]: { '@type': 'dns_storage_address', bag_id: '01'.repeat(32) },
          ['01'.repeat(32)]: { '@type': 'dns_next_resolver', resolver: smc(address) },
        },
      },
    });
  });

  it('echoes the address as it was given, and says what is no token', async () => {
    const text = address.toFriendly({ bounceable: false, urlSafe: false });
    const { status, error } = await ask(null, text);
    const echoed = address.toFriendly({ bounceable: false });
    expect([status, error]).toEqual([409, `Smart contract ${echoed} is not Jetton or NFT`]);
  });
});

describe('an ADNL address', () => {
  it('is written in base32 with a checksum', () => {
    // As tonlib wrote it.
    expect(adnlText(new Uint8Array(32).fill(0x5a))).toBe('vnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfvgnm');
  });
});
