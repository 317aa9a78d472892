import { describe, expect, it } from 'vitest';
import { codeMethods } from '#domain/contracts/code-methods.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';

/** What stands in front of the dictionary; all of it can be spoiled. */
interface Head {
  readonly setcp?: number;
  readonly opcode?: number;
  readonly present?: boolean;
  readonly keyBits?: number;
}

/** A code as compilers write it: `SETCP0`, `DICTPUSHCONST`, `DICTIGETJMPZ`, `11 THROWARG`. */
function codeOf(dictionary: Cell | null, head: Head = {}): Cell {
  const { setcp = 0xff00, opcode = 0b1111_0100_1010_0, present = true, keyBits = 19 } = head;
  const builder = new Builder().storeUint(setcp, 16).storeUint(opcode, 13).storeBit(present).storeUint(keyBits, 10);
  if (dictionary !== null) builder.storeRef(dictionary);
  return builder.storeUint(0xf4bcf2c80b, 40).endCell();
}

function methodsOf(ids: readonly number[], keyBits = 19): Cell | null {
  const bytes = Math.ceil(keyBits / 8);
  return buildDictionary(
    keyBits,
    ids.map((id) => {
      const key = new Uint8Array(bytes);
      Buffer.from(key.buffer).writeUIntBE(id * 2 ** (bytes * 8 - keyBits), 0, bytes);
      return [key, new Builder().storeUint(id, 32)] as const;
    }),
  );
}

describe('the get methods of a code', () => {
  it('are the keys of its dictionary, as unsigned numbers, rising', () => {
    const ids = [0, 78748, 81467, 85143, 524287];
    expect(codeMethods(codeOf(methodsOf([...ids].reverse())))).toEqual(ids);
    expect(codeMethods(codeOf(methodsOf([7])))).toEqual([7]);
    expect(codeMethods(codeOf(methodsOf([0, 1, 255], 8), { keyBits: 8 }))).toEqual([0, 1, 255]);
    expect(codeMethods(codeOf(methodsOf([2 ** 31 - 1], 31), { keyBits: 31 }))).toEqual([2 ** 31 - 1]);
  });

  it('are not known of code that begins otherwise', () => {
    const dictionary = methodsOf([1, 2, 3]);
    const spoiled: Head[] = [{ setcp: 0xff01 }, { opcode: 0b1111_0100_1010_1 }, { keyBits: 0 }, { keyBits: 32 }];
    expect(spoiled.map((head) => codeMethods(codeOf(dictionary, head)))).toEqual(spoiled.map(() => null));
    expect(codeMethods(codeOf(null))).toBeNull();
    expect(codeMethods(new Builder().endCell())).toBeNull();
    const library = new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32)).endExotic();
    expect(codeMethods(library)).toBeNull();
  });

  it('are not known where what stands for the dictionary is none', () => {
    const others = [new Builder().storeUint(0, 200).endCell(), new Builder().endCell(), codeOf(methodsOf([1]))];
    for (const other of others) expect(codeMethods(codeOf(other))).toBeNull();
    // Keys of another length.
    expect(codeMethods(codeOf(methodsOf([1, 2], 16)))).toBeNull();
    const branch = new Builder().storeUint(0x0101, 16).storeBytes(new Uint8Array(34)).endExotic();
    expect(codeMethods(codeOf(branch))).toBeNull();
  });

  it('are as many as there are, but not as many as few cells can claim', () => {
    const many = Array.from({ length: 2000 }, (_, i) => i * 3);
    expect(codeMethods(codeOf(methodsOf(many)))).toEqual(many);
    // Each fork leads to one cell twice: 2^19 entries, 2^31 of them.
    for (const keyBits of [19, 31]) {
      let cell = new Builder().storeUint(0, 2).endCell();
      for (let i = 0; i < keyBits; i++) cell = new Builder().storeUint(0, 2).storeRef(cell).storeRef(cell).endCell();
      expect(codeMethods(codeOf(cell, { keyBits }))).toBeNull();
    }
  });

  it('are those by which tokens are known, where their code is compiled as usual', () => {
    const ids = { jetton_wallet: 97026, nft_item: 102351, nft_collection: 102491 };
    let found = 0;
    for (const { kind, code } of recordedAccounts) {
      const methods = codeMethods(code);
      const id = Object.entries(ids).find(([name]) => kind.startsWith(name))?.[1];
      if (id === undefined || methods === null) continue;
      expect(methods, kind).toContain(id);
      found++;
    }
    expect(found).toBeGreaterThan(20);
  });
});
