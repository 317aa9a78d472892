import { describe, expect, it } from 'vitest';
import { readWallet } from '#domain/contracts/wallet.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { toHex } from '#kernel/bytes.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';
import { HashOnlyCell } from '#test/support/hash-only-cell.js';

const V5_BETA = new HashOnlyCell('f3d7ca53493deedac28b381986a849403cbac3d2c584779af081065af0ac4b93');
const V5 = new HashOnlyCell('20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f');
const V3 = new HashOnlyCell('84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599');

describe('readWallet', () => {
  it('reads wallets of the recorded network as the Python service told them', () => {
    const reported = recordedAccounts.filter(({ wallet }) => wallet !== null);
    expect(reported.filter(({ wallet }) => wallet?.wallet_type !== undefined).length).toBeGreaterThanOrEqual(8);
    for (const { kind, code, data, wallet } of reported) {
      const read = readWallet(code, data);
      const { wallet_type, seqno, wallet_id } = read ?? { wallet_id: null };
      const shown = { wallet_type, seqno, ...(wallet_id === null ? {} : { wallet_id }) };
      expect({ [kind]: read === null ? {} : shown }).toEqual({ [kind]: wallet });
    }
  });

  it('reports whether a v5 takes signatures', () => {
    const data = (bit: number) => new Builder().storeUint(bit, 1).storeUint(7, 32).storeInt(-5, 32).endCell();
    const wallet = { wallet_type: 'wallet v5 r1', seqno: 7, wallet_id: -5 };
    expect(readWallet(V5, data(1))).toEqual({ ...wallet, is_signature_allowed: true });
    expect(readWallet(V5, data(0))).toEqual({ ...wallet, is_signature_allowed: false });
  });

  it('reads the beta of v5 as it is: a seqno of 33 bits, the network first in its id, and always signatures', () => {
    const id = new Builder().storeInt(-239, 32).storeInt(0, 8).storeUint(0, 8).storeUint(3, 32);
    const data = new Builder()
      .storeUint(2 ** 32 + 1, 33)
      .storeBuilder(id)
      .storeUint(0, 256)
      .endCell();
    expect(readWallet(V5_BETA, data)).toEqual({
      wallet_type: 'wallet v5 beta',
      seqno: 2 ** 32 + 1,
      wallet_id: -239,
      is_signature_allowed: true,
    });
  });

  it('is null for other code, none, and data that is too short', () => {
    expect(readWallet(EMPTY_CELL, EMPTY_CELL)).toBeNull();
    expect(readWallet(null, null)).toBeNull();
    expect(readWallet(V3, null)).toBeNull();
    expect(readWallet(V3, new Builder().storeUint(1, 63).endCell())).toBeNull();
    expect(readWallet(V3, new Builder().storeUint(1, 64).endCell())).toMatchObject({ seqno: 0, wallet_id: 1 });
  });

  it('has no recorded wallet that it does not know', () => {
    const standard = recordedAccounts.filter(({ kind }) => /^wallet_v\d/.test(kind));
    expect(standard.map(({ kind }) => kind)).toContain('wallet_v2r1');
    for (const { kind, code, data } of standard) {
      expect({ [kind]: readWallet(code, data)?.wallet_type ?? toHex(code.hash()) }).toEqual({
        [kind]: kind === 'wallet_vesting' ? toHex(code.hash()) : kind.replace(/^wallet_(v\d)(r\d)$/, 'wallet $1 $2'),
      });
    }
  });
});
