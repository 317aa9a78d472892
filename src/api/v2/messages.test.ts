import { describe, expect, it } from 'vitest';
import { bodyContent } from '#api/v2/messages.js';
import { Builder } from '#formats/cells/builder.js';
import { storeSnakeText } from '#formats/cells/snake.js';

const text = (value: string) => storeSnakeText(value, new Builder().storeUint(0, 32)).endCell();

describe('the content of a message', () => {
  it('is a comment, over as many cells as it takes', () => {
    const long = 'für alle '.repeat(300);
    for (const comment of ['', 'x', 'привет', long]) {
      const content = bodyContent(text(comment));
      expect(content).toMatchObject({ kind: 'text', message: comment });
      expect(content.kind === 'text' && Buffer.from(content.text).toString()).toBe(comment);
    }
  });

  it('is a comment also when cells end within a byte, if the sum is whole bytes', () => {
    const bytes = Buffer.from('unaligned');
    const bits = [...bytes].flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map((bit) => bit === '1'));
    const cell = (part: readonly boolean[], builder = new Builder()) => {
      for (const bit of part) builder.storeBit(bit);
      return builder;
    };
    for (const [first, second] of [
      [3, 5],
      [1, 30],
      [20, 21],
      [8, 11],
    ] as const) {
      const last = cell(bits.slice(first + second)).endCell();
      const middle = cell(bits.slice(first, first + second))
        .storeRef(last)
        .endCell();
      const head = cell(bits.slice(0, first), new Builder().storeUint(0, 32)).storeRef(middle).endCell();
      expect(bodyContent(head)).toMatchObject({ kind: 'text', message: 'unaligned' });
    }
    const odd = cell(bits.slice(0, 13), new Builder().storeUint(0, 32)).endCell();
    expect(bodyContent(odd).kind).toBe('raw');
  });

  it('is not shown as text when it is not UTF-8', () => {
    const cell = new Builder().storeUint(0, 32).storeBytes(Uint8Array.of(0xff, 0xfe)).endCell();
    expect(bodyContent(cell)).toEqual({ kind: 'text', text: Uint8Array.of(0xff, 0xfe), message: '' });
  });

  it('may be encrypted', () => {
    const cell = new Builder()
      .storeUint(0x2167da4b, 32)
      .storeBytes(Uint8Array.of(1, 2, 3))
      .endCell();
    expect(bodyContent(cell)).toEqual({ kind: 'encrypted', text: Uint8Array.of(1, 2, 3), message: null });
  });

  it('is otherwise the data of the first cell, zeros after its last bit, and a line break', () => {
    expect(bodyContent(new Builder().endCell())).toEqual({ kind: 'raw', message: '' });
    const cell = new Builder().storeUint(0xdeadbeef, 32).storeUint(0b101, 3).endCell();
    expect(bodyContent(cell)).toEqual({
      kind: 'raw',
      message: `${Buffer.from('deadbeefa0', 'hex').toString('base64')}\n`,
    });
    expect(bodyContent(new Builder().storeUint(0, 31).endCell()).kind).toBe('raw');
  });

  it('are not decoded from an exotic cell', () => {
    const library = new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32)).endExotic();
    expect(bodyContent(library)).toEqual({ kind: 'exotic', message: null });
    const behind = new Builder().storeUint(0, 32).storeRef(library).endCell();
    expect(bodyContent(behind).kind).toBe('raw');
  });
});
