import { describe, expect, it } from 'vitest';
import { interfaceNamesOf } from '#domain/contracts/code-methods.js';
import { methodIdOf } from '#formats/tlb/vm-stack.js';

const UNKNOWN = '00'.repeat(32);
const WALLET_V3R2 = '84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599';

const ids = (...names: string[]) => names.map(methodIdOf);

describe('the interfaces of a contract', () => {
  it('are the one that its code stands for, whatever methods it has', () => {
    expect(interfaceNamesOf(WALLET_V3R2, null)).toEqual(['wallet_v3r2']);
    expect(interfaceNamesOf(WALLET_V3R2, ids('get_jetton_data', 'get_wallet_address', 'seqno'))).toEqual([
      'wallet_v3r2',
    ]);
  });

  it('are else all whose methods it has, by name', () => {
    expect(interfaceNamesOf(UNKNOWN, ids('get_wallet_data'))).toEqual(['jetton_wallet']);
    expect(interfaceNamesOf(UNKNOWN, ids('get_jetton_data'))).toEqual([]);
    expect(interfaceNamesOf(UNKNOWN, [0, ...ids('get_wallet_address', 'get_jetton_data')])).toEqual(['jetton_master']);
    const item = ids('get_nft_data', 'get_editor', 'dnsresolve', 'get_authority_address', 'get_revoked_time');
    expect(interfaceNamesOf(UNKNOWN, item)).toEqual(['dns', 'editable', 'nft_item', 'sbt']);
    expect(interfaceNamesOf(UNKNOWN, ids('seqno'))).toEqual([
      'wallet_v1r2',
      'wallet_v2r1',
      'wallet_v3r1',
      'wallet_v5_beta',
    ]);
  });

  it('are none where nothing is known of it', () => {
    expect(interfaceNamesOf(UNKNOWN, null)).toEqual([]);
    // Kinds without a method are those of no code either.
    expect(interfaceNamesOf(UNKNOWN, [])).toEqual([]);
    expect(interfaceNamesOf(UNKNOWN, [0, 524287])).toEqual([]);
  });

  it('have a name that ends with a space', () => {
    expect(interfaceNamesOf(UNKNOWN, ids('get_balances', 'get_target_balances'))).toEqual([
      'dedust_liquidity_deposit ',
      'lockup_universal',
    ]);
  });
});
