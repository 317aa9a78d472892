import { storeAddress } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { setEntry } from '#formats/cells/dict-edit.js';
import { methodIdOf } from '#formats/tlb/vm-stack.js';
import { fromHex } from '#kernel/bytes.js';

/** `SETCP0; 19 DICTPUSHCONST; DICTIGETJMPZ; 11 THROWARG`, as compilers begin a contract. */
const JUMP = 'ff00f4a413f4bcf2c80b';

/** Code with get methods, each in hexadecimal; two with other salt have other hashes. */
function codeWithMethods(methods: Readonly<Record<string, string>>, salt = 0): Cell {
  let table: Cell | null = null;
  // 18 bits of salt in a method that nobody asks for.
  const all = { ...methods, salt: `80${salt.toString(16).padStart(2, '0')}` };
  for (const [name, body] of Object.entries(all)) {
    const id = methodIdOf(name);
    const key = Uint8Array.of(id >> 11, (id >> 3) & 0xff, (id & 7) << 5);
    table = setEntry(table, 19, key, new Builder().storeBytes(fromHex(body)!));
  }
  return new Builder().storeBytes(fromHex(JUMP)!).storeRef(table!).endCell();
}

/** `PUSH c4; CTOS; LDGRAMS; LDMSGADDR` */
const GRAMS_AND_ADDRESS = 'ed44d0fa00fa40';

export const WALLET_METHODS = {
  /** `…; LDMSGADDR; LDREF; DROP` */
  plain: { get_wallet_data: `${GRAMS_AND_ADDRESS}fa40d430` },
  /** `PUSHCONT { NOP }; AGAIN` */
  endless: { get_wallet_data: '9100ea' },
  /** `40 THROW` */
  throwing: { get_wallet_data: 'f228' },
  /** `NIL` alone */
  malformed: { get_wallet_data: '6d' },
} as const;

/** What the master answers when it is asked for the wallet of an owner. */
const WALLET_ADDRESS = {
  /** the third reference of its data: `DROP; PUSH c4; CTOS; LDREF; NIP; LDREF; NIP; LDREF; DROP; CTOS` */
  kept: '30ed44d0d431d431d430d0',
  /** an address that is the time: `DROP; NOW; NEWC; 4 PUSHINT; SWAP; 3 STU; 0 PUSHINT; SWAP; 8 STU; 256 STU; ENDC; CTOS` */
  now: '30f823c87401cb027001cb07cbffc9d0',
  /** `PUSHCONT { NOP }; AGAIN` */
  endless: '9100ea',
};

export function masterCode(walletAddress: keyof typeof WALLET_ADDRESS, salt = 0): Cell {
  // …; LDREF; LDREF; DROP; -1 PUSHINT; 3 1 BLKSWAP
  const get_jetton_data = `${GRAMS_AND_ADDRESS}d4d4307f5520`;
  return codeWithMethods({ get_jetton_data, get_wallet_address: WALLET_ADDRESS[walletAddress] }, salt);
}

export function walletCode(methods: keyof typeof WALLET_METHODS, salt = 0): Cell {
  return codeWithMethods(WALLET_METHODS[methods], salt);
}

export function walletData(owner: Address, jetton: Address, code: Cell, balance = 5): Cell {
  const grams = new Builder().storeUint(1, 4).storeUint(balance, 8);
  return storeAddress(storeAddress(grams, owner), jetton).storeRef(code).endCell();
}

/** @param vouchedFor the only wallet that it has */
export function masterData(admin: Address, walletCodeCell: Cell, vouchedFor: Address): Cell {
  const content = new Builder().storeUint(1, 8).storeBytes(Buffer.from('https://example.org/j.json')).endCell();
  return storeAddress(new Builder().storeUint(1, 4).storeUint(100, 8), admin)
    .storeRef(content)
    .storeRef(walletCodeCell)
    .storeRef(storeAddress(new Builder(), vouchedFor).endCell())
    .endCell();
}

/** A tree of cells of about so many bytes, no two alike. */
export function largeCell(bytes: number): Cell {
  const leaves = Array.from({ length: Math.ceil(bytes / 128) }, (_, i) =>
    new Builder().storeUint(i, 32).storeBytes(new Uint8Array(120).fill(i)).endCell(),
  );
  let level: Cell[] = leaves;
  while (level.length > 1) {
    const above: Cell[] = [];
    for (let i = 0; i < level.length; i += 4) {
      const builder = new Builder().storeUint(above.length, 32);
      for (const cell of level.slice(i, i + 4)) builder.storeRef(cell);
      above.push(builder.endCell());
    }
    level = above;
  }
  return level[0]!;
}
