import { describe, expect, it } from 'vitest';
import { isTokenOpcode, parseTokenEvent, TOKEN_OPCODES, type TokenEventBodies } from '#domain/tokens/token-messages.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import type { Message } from '#formats/tlb/message.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';

const owner = Address.ofParts(0, new Uint8Array(32).fill(1));
const receiver = Address.ofParts(-1, new Uint8Array(32).fill(2));
const wallet = Address.ofParts(0, new Uint8Array(32).fill(3));
const payload = new Builder().storeUint(0x12345678, 32).endCell();
const NONE = null;

const INFO = {
  kind: 'int_msg_info' as const,
  ...{ ihr_disabled: true, bounce: true, bounced: false, src: owner, dest: wallet, extra_flags: 0n, fwd_fee: 0n },
  value: { grams: 1n, other: new Map() as never },
  ...{ created_lt: 5n, created_at: 6 },
};

/** A message with a body in a cell of its own, or inline. */
function message(body: Cell, info: object = {}, inline = false): Message {
  return {
    info: { ...INFO, ...info },
    init: null,
    body: inline ? { kind: 'left', value: new Slice(body) } : { kind: 'right', value: body },
  } as Message;
}

/** A `VarUInteger 16`, of so many bytes. */
function coins(builder: Builder, value: bigint, bytes = 2): Builder {
  return builder.storeUint(bytes, 4).storeUint(value, bytes * 8);
}

function address(builder: Builder, value: Parameters<typeof MsgAddress.store>[0]): Builder {
  MsgAddress.store(value, builder);
  return builder;
}

/** A jetton transfer up to its payload. */
function transferHead(bytes = 2): Builder {
  const builder = new Builder().storeUint(TOKEN_OPCODES.jetton_transfer, 32).storeUint(77, 64);
  address(address(coins(builder, 300n, bytes), receiver), NONE)
    .storeBit(true)
    .storeRef(payload);
  return coins(builder, 5n, bytes);
}

const eventOf = (body: Cell) => parseTokenEvent(message(body));

describe('a jetton transfer', () => {
  const inline = new Builder().storeUint(0, 32).storeUint(0x6869, 16).endCell();
  const expected = {
    kind: 'jetton_transfer',
    source: owner,
    destination: receiver,
    body: {
      ...{ query_id: 77n, amount: 300n, destination: receiver, response_destination: null },
      ...{ custom_payload: payload, forward_ton_amount: 5n },
    },
  };
  const payloads: [name: string, rest: (builder: Builder) => Builder, forward: Cell | null][] = [
    ['a payload in a cell of its own', (b) => b.storeBit(true).storeRef(inline), inline],
    ['an inline payload', (b) => b.storeBit(false).storeSlice(new Slice(inline)), inline],
    [
      'an inline payload of references alone',
      (b) => b.storeBit(false).storeRef(inline),
      new Builder().storeRef(inline).endCell(),
    ],
    ['an empty payload', (b) => b.storeBit(false), null],
    ['no bit that says where the payload is', (b) => b, null],
    ['a payload in a cell that is not there', (b) => b.storeBit(true), null],
    ['bits behind the cell of the payload', (b) => b.storeBit(true).storeRef(inline).storeUint(5, 7), inline],
    ['references behind the cell of the payload', (b) => b.storeBit(true).storeRef(inline).storeRef(payload), inline],
  ];

  it.each(payloads)('has %s', (_, rest, forward) => {
    for (const isInline of [false, true]) {
      const event = parseTokenEvent(message(rest(transferHead()).endCell(), {}, isInline));
      const { forward_payload, ...body } = event!.body as TokenEventBodies['jetton_transfer'];
      expect({ ...event, body }).toEqual(expected);
      expect(forward_payload?.hash() ?? null).toEqual(forward?.hash() ?? null);
    }
  });

  it('counts with numbers that have leading zeros, as the machine reads them', () => {
    const event = eventOf(transferHead(15).storeBit(false).endCell());
    expect(event?.body).toMatchObject({ amount: 300n, forward_ton_amount: 5n });
  });

  it('may be to no account', () => {
    const builder = new Builder().storeUint(TOKEN_OPCODES.jetton_transfer, 32).storeUint(1, 64);
    const body = coins(address(address(coins(builder, 1n), NONE), NONE).storeBit(false), 0n, 0).storeBit(false);
    expect(eventOf(body.endCell())).toMatchObject({ destination: null, body: { destination: null, amount: 1n } });
  });

  it('is none when it ends before its payload, at whatever bit', () => {
    const whole = new Slice(transferHead().endCell());
    for (let bits = 0; bits < whole.remainingBits; bits++) {
      for (const refs of [0, 1]) {
        const body = new Builder().storeSlice(whole.clone().take(bits, refs)).endCell();
        expect(eventOf(body), `${bits} bits, ${refs} references`).toBeNull();
      }
    }
    expect(eventOf(new Builder().storeSlice(whole.clone().take(whole.remainingBits, 0)).endCell())).toBeNull();
  });
});

describe('other events', () => {
  it('are a burn, whatever is behind it', () => {
    const head = () => {
      const builder = new Builder().storeUint(TOKEN_OPCODES.jetton_burn, 32).storeUint(9, 64);
      return address(coins(builder, 40n), receiver);
    };
    const expected = { kind: 'jetton_burn', source: owner, destination: null };
    const body = { query_id: 9n, amount: 40n, response_destination: receiver };
    expect(eventOf(head().storeBit(true).storeRef(payload).endCell())).toMatchObject({
      ...expected,
      body: { ...body, custom_payload: payload },
    });
    for (const rest of [head(), head().storeBit(false), head().storeBit(true), head().storeUint(0, 9)]) {
      expect(eventOf(rest.endCell())).toEqual({ ...expected, body: { ...body, custom_payload: null } });
    }
  });

  it('are what a wallet received', () => {
    const builder = new Builder().storeUint(TOKEN_OPCODES.jetton_internal_transfer, 32).storeUint(9, 64);
    const body = coins(address(address(coins(builder, 40n), NONE), receiver), 3n, 1)
      .storeBit(true)
      .storeRef(payload);
    expect(eventOf(body.endCell())).toEqual({
      ...{ kind: 'jetton_mint', source: owner, destination: null },
      body: {
        ...{ query_id: 9n, amount: 40n, from: null, response_address: receiver },
        ...{ forward_ton_amount: 3n, forward_payload: payload },
      },
    });
  });

  it('are a transfer of an NFT', () => {
    const builder = new Builder().storeUint(TOKEN_OPCODES.nft_transfer, 32).storeUint(9, 64);
    const body = coins(address(address(builder, receiver), owner).storeBit(false), 3n, 1).storeBit(false);
    expect(eventOf(body.storeUint(0xab, 8).endCell())).toMatchObject({
      ...{ kind: 'nft_transfer', source: owner, destination: receiver },
      body: {
        query_id: 9n,
        new_owner: receiver,
        response_destination: owner,
        custom_payload: null,
        forward_amount: 3n,
      },
    });
  });
});

describe('no event', () => {
  const body = transferHead().storeBit(false).endCell();

  it('is a message with another opcode, a short one, or an empty one', () => {
    const other = new Builder().storeUint(0x0f8a7ea6, 32).storeSlice(new Slice(body).skip(32)).endCell();
    for (const cell of [other, new Builder().storeUint(0xf8a7e, 20).endCell(), new Builder().endCell()]) {
      expect(eventOf(cell)).toBeNull();
    }
    expect(eventOf(body)).not.toBeNull();
  });

  it('is a external-in message, or to the outside', () => {
    const outside = { kind: 'ext_in_msg_info', src: null, dest: wallet, import_fee: 0n };
    expect(parseTokenEvent(message(body, outside))).toBeNull();
    const out = { kind: 'ext_out_msg_info', src: owner, dest: null };
    expect(parseTokenEvent(message(body, out))).toBeNull();
  });

  it('is a body that is an exotic cell', () => {
    const library = new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32)).endExotic();
    expect(eventOf(library)).toBeNull();
  });

  it('is recognised by the opcode before anything is decoded', () => {
    for (const opcode of Object.values(TOKEN_OPCODES)) expect(isTokenOpcode(opcode | 0)).toBe(true);
    for (const opcode of [0, 1, -1, 0x7362d09c, 0xd53276db | 0]) expect(isTokenOpcode(opcode)).toBe(false);
  });
});
