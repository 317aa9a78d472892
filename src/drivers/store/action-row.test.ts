import { describe, expect, it } from 'vitest';
import type { DetailFields, FieldKinds } from '#domain/actions/action-type.js';
import {
  type ActionLayout,
  decodeAction,
  encodeAction,
  layoutOf,
  layoutOfText,
  layoutText,
  type StoredAction,
} from '#drivers/store/action-row.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { errorCode } from '#test/support/error-code.js';

const account = (byte: number, workchain = 0) => Address.ofParts(workchain, new Uint8Array(32).fill(byte));
const bytes = (length: number, from = 0) => Uint8Array.from({ length }, (_, i) => (from + i) & 255);
const cell = new Builder().storeUint(7, 32).endCell();

const scalar = (kind: keyof FieldKinds) =>
  ({ kind, presence: 'nullable', role: null, description: '', known: [] }) as DetailFields[string];
const KINDS = [
  ...['address', 'addresses', 'amount', 'integer', 'flag', 'text', 'hex', 'hash', 'opcode', 'boc', 'bare_boc'],
  'currencies',
] as const satisfies readonly (keyof FieldKinds)[] as readonly (keyof FieldKinds)[];

const fields: DetailFields = {
  ...Object.fromEntries(KINDS.map((kind) => [kind, scalar(kind)])),
  leg: { kind: 'record', name: 'Leg', description: '', fields: { amount: scalar('amount'), asset: scalar('address') } },
  legs: { kind: 'list', name: 'Leg', description: '', fields: { amount: scalar('amount'), asset: scalar('address') } },
};
const layout = layoutOf(fields);

const values = {
  address: account(1),
  addresses: [account(1), account(2), account(3, -1), account(4, 1000)],
  amount: -(1n << 255n),
  integer: -2,
  flag: false,
  text: 'ёж\u{1f994}',
  hex: bytes(300),
  hash: bytes(32),
  opcode: 0xffff_ffff,
  boc: cell,
  bare_boc: cell,
  currencies: new Map([
    [0xffff_ffff, 1n << 100n],
    [3, 0n],
  ]),
  leg: { amount: 0n, asset: account(2) },
  legs: [
    { amount: 1n, asset: null },
    { amount: null, asset: account(9) },
  ],
};

const action: StoredAction = {
  action_id: bytes(32, 1),
  parent_action_id: null,
  success: true,
  start_lt: 70_000_000_000_001n,
  end_lt: 70_000_000_000_009n,
  start_utime: 1_795_256_101,
  end_utime: 1_795_256_100,
  transactions: [bytes(32, 2), bytes(32, 3)],
  accounts: [account(1), account(2)],
  details: values,
};

function read(data: Uint8Array, by: ActionLayout = layout) {
  const { details, ...rest } = decodeAction(data, by);
  const { boc, bare_boc, ...others } = details;
  const root = (boc: unknown) => (boc === null ? null : parseBocRoot(boc as Uint8Array).hash());
  return { ...rest, details: { ...others, boc: root(boc), bare_boc: root(bare_boc) } };
}

describe('the row of an action', () => {
  it('gives back what was written, of every kind of value', () => {
    expect(read(encodeAction(action, layout))).toEqual({
      ...action,
      details: { ...values, boc: cell.hash(), bare_boc: cell.hash() },
    });
  });

  it.each([null, false, true])('keeps success %s and a parent', (success) => {
    const parent = { ...action, success, parent_action_id: bytes(32, 99) };
    const { parent_action_id, success: found } = decodeAction(encodeAction(parent, layout), layout);
    expect([found, parent_action_id]).toEqual([success, bytes(32, 99)]);
  });

  it('has null where nothing is given, and empty lists, records and currencies', () => {
    const empty = { ...action, details: {} };
    expect(read(encodeAction(empty, layout)).details).toEqual({
      ...Object.fromEntries(KINDS.map((kind) => [kind, null])),
      currencies: new Map(),
      leg: { amount: null, asset: null },
      legs: [],
    });
  });

  it('names an address that comes again by its number', () => {
    const one = encodeAction({ ...action, details: { address: account(1) } }, layout);
    const other = encodeAction({ ...action, details: { address: account(8) } }, layout);
    expect(other.length - one.length).toBe(33);
  });

  it('has more addresses than there are numbers', () => {
    const addresses = Array.from({ length: 600 }, (_, i) =>
      Address.ofParts(
        0,
        Uint8Array.from({ length: 32 }, (_, at) => (at < 2 ? ((i % 300) >> (8 * at)) & 255 : 1)),
      ),
    );
    const many = { ...action, details: { addresses } };
    expect(decodeAction(encodeAction(many, layout), layout).details.addresses).toEqual(addresses);
  });

  it('is read by the layout that it was written with, whatever its type has become', () => {
    const stored = layoutOfText(layoutText(layout));
    expect(stored).toEqual(layout);
    expect(read(encodeAction(action, layout), stored)).toEqual(read(encodeAction(action, layout)));
  });

  it('that is damaged is refused', () => {
    const data = encodeAction(action, layout);
    for (let length = 0; length < data.length; length++) {
      expect(
        errorCode(() => decodeAction(data.subarray(0, length), layout)),
        `${length} bytes`,
      ).toBe('store/stored-value');
    }
    expect(errorCode(() => decodeAction(Uint8Array.of(...data, 0), layout))).toBe('store/stored-value');
    expect(errorCode(() => decodeAction(Uint8Array.of(2, ...data.subarray(1)), layout))).toBe('store/stored-value');
  });
});
