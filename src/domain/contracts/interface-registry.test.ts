import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CandidateInterfaces, CONTRACT_INTERFACES, nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import { WALLET_LIKE_CODES } from '#domain/contracts/wallet.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { methodIdOf } from '#formats/tlb/vm-stack.js';
import { toHex } from '#kernel/bytes.js';
import { Random } from '#test/fuzz/random.js';
import { damageBelow } from '#test/fuzz/seeds.js';
import {
  otherAccounts,
  type RecordedAccount,
  recordedAccounts,
  runRecorded,
  serviceWallets,
} from '#test/support/contract-accounts.js';
import { FULL } from '#test/support/full-depth.js';
import { nativeMethods, nativeShape, runShape } from '#test/support/native-comparison.js';
import { startTvm } from '#test/support/tvm-pool.js';

const candidates = new CandidateInterfaces(CONTRACT_INTERFACES);

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm();
});
afterAll(() => pool.close());

const known = [...recordedAccounts, ...serviceWallets, ...otherAccounts].filter(
  ({ code }) => nativeCodeOf(code) !== null,
);

describe('kinds that a code can be of', () => {
  const names = (codeHash: string, methods: readonly string[] | null) =>
    candidates.of(codeHash, methods === null ? null : methods.map(methodIdOf)).map(({ name: kind }) => kind);
  const nobody = '00'.repeat(32);
  const all = CONTRACT_INTERFACES.map(({ name: kind }) => kind);

  it('have all get methods of one of their sets', () => {
    expect(names(nobody, ['get_jetton_data', 'get_wallet_data', 'seqno'])).toEqual(['jetton_master', 'jetton_wallet']);
    expect(names(nobody, ['get_nft_data', 'dnsresolve'])).toEqual(['nft_item']);
    expect(names(nobody, ['get_nft_data', 'dnsresolve', 'get_full_domain'])).toEqual(['nft_item', 'dns_item']);
    expect(names(nobody, ['get_domain', 'dnsresolve'])).toEqual([]);
    expect(names(nobody, [])).toEqual([]);
  });

  it('are all that are reported by get methods where these are not known', () => {
    const reported = CONTRACT_INTERFACES.filter(({ methods }) => methods.length > 0).map(({ name: kind }) => kind);
    expect(names(nobody, null)).toEqual(reported);
    // A wallet v3 r2 has no method dictionary.
    expect(names('84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599', null)).toEqual([]);
    expect(reported).toEqual(expect.arrayContaining(['jetton_master', 'jetton_wallet', 'nft_collection', 'nft_item']));
    expect(all.filter((kind, at) => all.indexOf(kind) !== at)).toEqual([]);
  });

  it('are those that know it, and a reference to it in the libraries, besides', () => {
    const dotTon = '8b5ffc9ebfd39064d8d5f56e4659c826bb7593923f5ca48728be4d60af6f51f9';
    expect(names(dotTon, null)).toEqual(['nft_item', 'dns_item']);
    expect(names(dotTon, ['get_jetton_data'])).toEqual(['jetton_master', 'nft_item', 'dns_item']);
    const library = recordedAccounts.find(({ kind }) => kind === 'jetton_wallet_notcoin-lib')!;
    expect(library.code.type).toBe(CellType.libraryReference);
    expect(names(toHex(library.code.hash()), null)).toEqual(['jetton_wallet']);
    expect(nativeCodeOf(library.code)?.hashes).toEqual([toHex(libraryHashOf(library.code)!)]);
  });

  it('answer for one code together, each get method once', () => {
    for (const { code } of known) {
      const { getMethods: answers, missingMethods: lacks = [] } = nativeCodeOf(code)!;
      const methods = [...answers.map(({ method }) => method), ...lacks];
      expect([...new Set(methods)]).toEqual(methods);
    }
  });
});

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
    const missed = CONTRACT_INTERFACES.flatMap(({ codes }) => codes)
      .filter(({ getMethods: answers }) => answers.length > 0)
      .flatMap(({ hashes }) => hashes)
      .filter((hash) => !seen.has(hash));
    expect(missed).toEqual([]);
  });

  it('read what other data says, or leave it to the virtual machine', async () => {
    const random = new Random('native readers');
    let same = 0;
    let left = 0;
    for (const account of known) {
      for (let i = 0; i < (FULL ? 10 : 2); i++) {
        const { data } = account;
        const changed = { ...account, data: i % 2 === 0 ? otherData(data, random) : damageBelow(data, random) };
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
    expect(same).toBeGreaterThan(FULL ? 200 : 40);
    expect(left).toBeGreaterThan(FULL ? 200 : 40);
  });
});

describe('codes that are no tokens', () => {
  const METHODS = ['get_jetton_data', 'get_wallet_data', 'get_collection_data', 'get_nft_data'];

  it('have none of the get methods of tokens', async () => {
    const wallets = recordedAccounts.filter(({ code }) => WALLET_LIKE_CODES.has(toHex(code.hash())));
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
