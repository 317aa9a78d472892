import { describe, expect, it } from 'vitest';
import { codeRow } from '#drivers/store/stored-transaction.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { toHex } from '#kernel/bytes.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';

describe('a code as it is stored', () => {
  it('has its hash, its cells and the ids of its get methods', () => {
    const { code } = recordedAccounts.find(({ kind }) => kind === 'nft_item_v1')!;
    const row = codeRow(code);
    expect(toHex(row.code_hash)).toBe(toHex(code.hash()));
    expect(toHex(parseBocRoot(row.boc).hash())).toBe(toHex(code.hash()));
    expect([row.methods, row.methods_read]).toEqual([[0, 1, 2, 3, 102_351], true]);
  });

  it('has none where it has no table of them', () => {
    const row = codeRow(new Builder().storeUint(0xff0020, 24).endCell());
    expect([row.methods, row.methods_read]).toEqual([null, true]);
  });

  it('leaves those of a library to whoever knows it', () => {
    const row = codeRow(new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32)).endExotic());
    expect([row.methods, row.methods_read]).toEqual([null, false]);
  });
});
