import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account, ShardAccount, stateInitOf } from '#formats/tlb/account.js';
import { encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { toHex } from '#kernel/bytes.js';
import { AccountImporter } from '#localnet/fork/account-import.js';

const address = Address.ofParts(0, new Uint8Array(32).fill(5));

function libraryCell(hash: Uint8Array): Cell {
  return new Builder().storeUint(2, 8).storeBytes(hash).endExotic();
}

function active(code: Cell, data: Cell): Cell {
  const account: Account = {
    kind: 'account',
    addr: address,
    storage_stat: {
      used: { cells: 1n, bits: 1n },
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: 0,
      due_payment: null,
    },
    storage: {
      last_trans_lt: 20n,
      balance: onlyGrams(7n),
      state: { kind: 'account_active', state_init: stateInitOf(code, data) },
    },
  };
  return encodeCell(ShardAccount, {
    account: Lazy.ofValue(Account, account),
    last_trans_hash: new Uint8Array(32).fill(9),
    last_trans_lt: 19n,
  });
}

function network(accounts: ReadonlyMap<string, Cell>, libraries: readonly Cell[]) {
  const asked: string[] = [];
  const byHash = new Map(libraries.map((cell) => [toHex(cell.hash()), cell]));
  return {
    asked,
    account: async (of: Address) => {
      asked.push(of.toRaw());
      return accounts.get(of.toRaw()) ?? null;
    },
    library: async (hash: Uint8Array) => {
      asked.push(toHex(hash));
      return byHash.get(toHex(hash)) ?? null;
    },
  };
}

const nothingHere = { isDeleted: () => false, hasLibrary: () => false };
const inner = new Builder().storeUint(1, 8).endCell();
const outer = new Builder().storeUint(2, 8).storeRef(libraryCell(inner.hash())).endCell();
const ofData = new Builder().storeUint(3, 8).endCell();
const absent = new Builder().storeUint(4, 8).endCell();
const contract = active(
  libraryCell(outer.hash()),
  new Builder().storeRef(libraryCell(ofData.hash())).storeRef(libraryCell(absent.hash())).endCell(),
);
const kindsOf = (made: Awaited<ReturnType<AccountImporter['importOverrides']>>) => made?.map(({ kind }) => kind);

describe('an account of a forked network', () => {
  it('comes as it is, with the libraries that its code and data name, and those that these name', async () => {
    const there = network(new Map([[address.toRaw(), contract]]), [inner, outer, ofData]);
    const made = (await new AccountImporter(there, nothingHere).importOverrides(address))!;
    expect(kindsOf(made)).toEqual(['library', 'library', 'library', 'import']);
    const libraries = made.flatMap((each) => (each.kind === 'library' ? [toHex(each.library.hash())] : []));
    expect(libraries.sort()).toEqual([inner, outer, ofData].map((cell) => toHex(cell.hash())).sort());
    expect(made.at(-1)).toEqual({ kind: 'import', address, shard_account: contract });
  });

  it('comes without libraries that are here', async () => {
    const there = network(new Map([[address.toRaw(), contract]]), [inner, outer, ofData]);
    const here = { ...nothingHere, hasLibrary: (hash: Uint8Array) => toHex(hash) === toHex(outer.hash()) };
    const made = await new AccountImporter(there, here).importOverrides(address);
    expect(made!.map((each) => (each.kind === 'library' ? toHex(each.library.hash()) : each.kind))).toEqual([
      toHex(ofData.hash()),
      'import',
    ]);
    expect(there.asked).not.toContain(toHex(outer.hash()));
  });

  it('does not come when there is none, in a workchain that there is not, or after it has ended here', async () => {
    const there = network(new Map([[address.toRaw(), contract]]), []);
    const nobody = Address.ofParts(0, new Uint8Array(32));
    expect(await new AccountImporter(there, nothingHere).importOverrides(nobody)).toBeNull();
    expect(await new AccountImporter(there, nothingHere).account(Address.ofParts(3, address.hash))).toBeNull();
    const gone = { ...nothingHere, isDeleted: (of: Address) => of.equals(address) };
    expect(await new AccountImporter(there, gone).importOverrides(address)).toBeNull();
    expect(there.asked).toEqual([nobody.toRaw()]);
  });
});
