import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTRACT_KINDS, libraryHashOf, nativeCodeOf } from '#domain/contracts/kinds/contract-kinds.js';
import { NO_TOKEN_CODES } from '#domain/contracts/wallet-codes.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { Random } from '#test/fuzz/random.js';
import { otherAccounts, type RecordedAccount, recordedAccounts, runRecorded } from '#test/support/contract-accounts.js';
import { nativeMethods, nativeShape, runShape } from '#test/support/native-comparison.js';
import { startTvm } from '#test/support/tvm-pool.js';

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm();
});
afterAll(() => pool.close());

const known = [...recordedAccounts, ...otherAccounts].filter(({ code }) => nativeCodeOf(code) !== null);

describe('native readers', () => {
  it('read contracts of the recorded network as the virtual machine does', async () => {
    let compared = 0;
    for (const account of known) {
      for (const method of nativeMethods(account)) {
        const run = await runRecorded(pool, account, method.method, method.stack);
        const native = nativeShape(method);
        const answer = runShape(method, run);
        const name = `${account.kind} ${method.method}`;
        // Where the get method refuses, only running it tells why.
        if (native === null) expect({ [name]: answer }).toEqual({ [name]: expect.stringMatching(/^exit code/) });
        else expect({ [name]: native }).toEqual({ [name]: answer });
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(150);
  });

  it('are tried for each code', () => {
    const seen = new Set(known.map(({ code }) => toHex(libraryHashOf(code) ?? code.hash())));
    const missed = CONTRACT_KINDS.flatMap(({ codes }) => codes)
      .filter(({ answers }) => answers.length > 0)
      .flatMap(({ hashes }) => hashes)
      .filter((hash) => !seen.has(hash));
    expect(missed).toEqual([]);
  });

  it('read what other data says, or leave it to the virtual machine', async () => {
    const random = new Random('native readers');
    let same = 0;
    let left = 0;
    for (const account of known) {
      for (let i = 0; i < 10; i++) {
        const changed = { ...account, data: otherData(account.data, random) };
        for (const method of nativeMethods(changed)) {
          const native = nativeShape(method);
          if (native === null) {
            left++;
            continue;
          }
          const run = await runRecorded(pool, changed, method.method, method.stack);
          expect({ kind: account.kind, method: method.method, result: native }).toEqual({
            kind: account.kind,
            method: method.method,
            result: runShape(method, run),
          });
          same++;
        }
      }
    }
    expect(same).toBeGreaterThan(200);
    expect(left).toBeGreaterThan(200);
  });
});

describe('codes that are no tokens', () => {
  const METHODS = ['get_jetton_data', 'get_wallet_data', 'get_collection_data', 'get_nft_data'];

  it('have none of the get methods of tokens', async () => {
    const wallets = recordedAccounts.filter(({ code }) => NO_TOKEN_CODES.has(toHex(code.hash())));
    expect(wallets.length).toBeGreaterThanOrEqual(18);
    for (const wallet of wallets) expect(await failures(wallet)).toEqual(METHODS);
  });

  async function failures(wallet: RecordedAccount): Promise<string[]> {
    const failed: string[] = [];
    for (const method of METHODS) {
      const { exit_code } = await runRecorded(pool, wallet, method);
      if (exit_code > 1) failed.push(method);
    }
    return failed;
  }
});

/** The same cell with a bit turned, bits cut or added, or a reference left out or added. */
function otherData(data: Cell, random: Random): Cell {
  const bits = new Slice(data).loadBits(data.bits);
  const bytes = bits.bytes.slice();
  let length = data.bits;
  let refs = Array.from({ length: data.refCount }, (_, i) => data.ref(i));
  switch (random.below(5)) {
    case 0:
      if (length > 0) {
        const at = random.below(length);
        bytes[at >> 3]! ^= 0x80 >> (at & 7);
      }
      break;
    case 1:
      length = random.below(length + 1);
      break;
    case 2:
      refs = refs.slice(1);
      break;
    case 3:
      if (refs.length < 4) refs.push(new Builder().storeUint(1, 1).endCell());
      break;
    default: {
      const builder = new Builder();
      for (let i = 0; i < length; i++) builder.storeBit(((bytes[i >> 3]! >> (7 - (i & 7))) & 1) === 1);
      if (length < 1000) builder.storeUint(random.below(8), 3);
      for (const ref of refs) builder.storeRef(ref);
      return builder.endCell();
    }
  }
  const builder = new Builder();
  for (let i = 0; i < length; i++) builder.storeBit(((bytes[i >> 3]! >> (7 - (i & 7))) & 1) === 1);
  for (const ref of refs) builder.storeRef(ref);
  return builder.endCell();
}
