import { describe, expect, it } from 'vitest';
import {
  type PaymentChannelState,
  paymentChannelText,
  publicKeyText,
  readPaymentChannel,
} from '#domain/contracts/payment-channel.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { errorCode } from '#test/support/error-code.js';

/* Texts and keys are those that tonlib (pytonlib 0.0.72) gave for the same data. */

function coins(builder: Builder, ...amounts: readonly bigint[]): Builder {
  for (const amount of amounts) grams.store(amount, builder);
  return builder;
}

function addressCell(address: Address | null): Cell {
  const builder = new Builder();
  MsgAddress.store(address, builder);
  return builder.endCell();
}

const a_addr = Address.ofParts(0, new Uint8Array(32).fill(0x11));
const b_addr = Address.ofParts(-1, new Uint8Array(32).fill(0x22));
const [a_key, b_key] = [new Uint8Array(32).fill(0xaa), new Uint8Array(32).fill(0xbb)];

function dataOf(state: Cell, alice: Address | null = a_addr): Cell {
  const config = new Builder().storeUint(3600, 32).storeUint(7200, 32).storeBytes(a_key).storeBytes(b_key);
  config.storeRef(addressCell(alice)).storeRef(addressCell(b_addr)).storeUint(123_456_789_012n, 64);
  return new Builder().storeRef(coins(config, 500_000_000n).endCell()).storeRef(state).endCell();
}

const read = (state: Cell) => readPaymentChannel(openCell(dataOf(state)));

function opened(
  tag: number,
  [signed_A, signed_B]: readonly boolean[],
  bounds: bigint[],
  expire: number,
  sides: bigint[],
) {
  const state = new Builder().storeUint(tag, 3).storeBit(signed_A!).storeBit(signed_B!);
  return coins(coins(state, ...bounds).storeUint(expire, 32), ...sides).endCell();
}

const cases: readonly (readonly [Cell, PaymentChannelState, string])[] = [
  [
    opened(0, [true, false], [1n, 0n], 1_795_000_000, [3_000_000_000n, 4_000_000_000n]),
    {
      ...{ kind: 'init', signed_A: true, signed_B: false, min_A: 1n, min_B: 0n, expire_at: 1_795_000_000 },
      ...{ A: 3_000_000_000n, B: 4_000_000_000n },
    },
    `(chan_state_init signed_A:1 signed_B:0
  min_A:(nanograms
    amount:(var_uint len:1 value:1))
  min_B:(nanograms
    amount:(var_uint len:0 value:0)) expire_at:1795000000
  A:(nanograms
    amount:(var_uint len:4 value:3000000000))
  B:(nanograms
    amount:(var_uint len:4 value:4000000000)))
`,
  ],
  [
    opened(1, [false, true], [5n, 600n], 1_795_000_001, [30_000_000_000n, 4_000_000_000_000_000_000n]),
    {
      ...{ kind: 'close', signed_A: false, signed_B: true, min_A: 5n, min_B: 600n, expire_at: 1_795_000_001 },
      ...{ A: 30_000_000_000n, B: 4_000_000_000_000_000_000n },
    },
    `(chan_state_close signed_A:0 signed_B:1
  promise_A:(nanograms
    amount:(var_uint len:1 value:5))
  promise_B:(nanograms
    amount:(var_uint len:2 value:600)) expire_at:1795000001
  A:(nanograms
    amount:(var_uint len:5 value:30000000000))
  B:(nanograms
    amount:(var_uint len:8 value:4000000000000000000)))
`,
  ],
  [
    coins(new Builder().storeUint(2, 3), 9n, 0n).endCell(),
    { kind: 'payout', A: 9n, B: 0n },
    `(chan_state_payout
  A:(nanograms
    amount:(var_uint len:1 value:9))
  B:(nanograms
    amount:(var_uint len:0 value:0)))
`,
  ],
];

describe('a payment channel', () => {
  it.each(cases)('is read and written as text: %#', (cell, state, text) => {
    const channel = read(cell);
    expect(channel.state).toEqual(state);
    expect(paymentChannelText(channel.state)).toBe(text);
    const { a_addr: alice, b_addr: bob, ...config } = channel.config;
    expect([alice.equals(a_addr), bob.equals(b_addr)]).toEqual([true, true]);
    expect(config).toEqual({ init_timeout: 3600, close_timeout: 7200, a_key, b_key, channel_id: 123_456_789_012n });
  });

  it('has keys as tonlib writes them', () => {
    expect([a_key, b_key].map(publicKeyText)).toEqual([
      'PuaqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqiRl',
      'Pua7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7uw0q',
    ]);
  });

  it.each([
    ['another tag', coins(new Builder().storeUint(7, 3), 9n, 0n).endCell(), 'contract-data/other-form'],
    ['more bits', coins(new Builder().storeUint(2, 3), 9n, 0n).storeUint(1, 5).endCell(), 'cells/slice-not-empty'],
    ['fewer bits', new Builder().storeUint(2, 3).endCell(), 'cells/slice-underflow'],
  ])('is refused with %s', (_, cell, code) => {
    expect(errorCode(() => read(cell))).toBe(code);
  });

  it('is refused without an address', () => {
    const data = dataOf(coins(new Builder().storeUint(2, 3), 9n, 0n).endCell(), null);
    expect(errorCode(() => readPaymentChannel(openCell(data)))).toBe('contract-data/other-form');
  });
});
