import { describe, expect, it } from 'vitest';
import { decodeMessageBody, opcodeName } from '#domain/message-bodies/decode-message-body.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { storeSnakeText } from '#formats/cells/snake.js';
import { toBase64 } from '#kernel/bytes.js';
import { cpuMs } from '#test/support/cpu-time.js';
import { bodyCell, recordedBodies } from '#test/support/message-bodies.js';

const comment = (text: string, opcode = new Builder().storeUint(0, 32)): Cell => storeSnakeText(text, opcode).endCell();
const decoded = (cell: Cell | Builder) => decodeMessageBody(cell instanceof Builder ? cell.endCell() : cell).decoded;
const op = (opcode: number) => new Builder().storeUint(opcode, 32);
const boc = (cell: Cell) => toBase64(serializeBoc(cell));

const BOUNCE = 0xffffffff;
const UNKNOWN = 0x12345678;
const library = new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32).fill(7));

describe('the body of a message', () => {
  it('is decoded as the reference service decodes it', () => {
    for (const { body, opcode_name, decoded } of recordedBodies) {
      const ours = decodeMessageBody(bodyCell(body));
      expect(ours.opcodeName, body).toBe(opcode_name);
      // As text: the order of the fields counts.
      expect(JSON.stringify(ours.decoded), body).toBe(JSON.stringify(decoded));
    }
    expect(recordedBodies.length).toBe(300);
  });

  it('may be empty, or too short for an opcode', () => {
    expect(decodeMessageBody(new Builder().endCell())).toEqual({
      opcodeName: null,
      decoded: { '@type': 'empty_cell' },
    });
    expect(decodeMessageBody(new Builder().storeUint(0, 31).endCell())).toEqual({ opcodeName: null, decoded: null });
    expect(decodeMessageBody(new Builder().storeRef(comment('x')).endCell())).toEqual({
      opcodeName: null,
      decoded: null,
    });
  });

  it('keeps the name of its opcode when it does not fit', () => {
    const short = op(0x0f8a7ea5).storeUint(1, 32).endCell();
    expect(decodeMessageBody(short)).toEqual({ opcodeName: 'jetton_transfer', decoded: null });
    expect(opcodeName(0x0f8a7ea5)).toBe('jetton_transfer');
    expect(opcodeName(UNKNOWN)).toBeNull();
  });

  it('may go on after the last field', () => {
    const longer = op(0xd53276db).storeUint(7, 64).storeUint(1, 9).storeRef(comment('x'));
    expect(decoded(longer)).toEqual({ '@type': 'excess', query_id: '7' });
  });
});

describe('numbers in a body', () => {
  it.each([
    [0n, '0'],
    [2n ** 53n + 1n, '9007199254740993'],
    [2n ** 64n - 1n, '18446744073709551615'],
  ])('of 64 bits are decimal: %d', (value, text) => {
    expect(decoded(op(0xd53276db).storeUint(value, 64))).toEqual({ '@type': 'excess', query_id: text });
  });

  it('may be negative', () => {
    const body = op(0xa37a0983).storeInt(-5, 64);
    expect(decoded(body)).toEqual({ '@type': 'teleitem_ok', query_id: '-5' });
  });
});

describe('text in a body', () => {
  const long = 'долгий текст '.repeat(1500);

  it('is a comment of any length', () => {
    for (const text of ['', 'hello', '\0\uFEFF', long]) {
      expect(decoded(comment(text))).toEqual({ '@type': 'text_comment', comment: text, type: 'text_comment' });
    }
  });

  it('has another form inside', () => {
    expect(decoded(comment('hello', op(BOUNCE).storeUint(0, 32)))).toEqual({
      '@type': 'bounce',
      payload: { '@type': 'text_comment', text: 'hello' },
    });
  });

  it('may end with half a byte, which zeros fill', () => {
    expect(decoded(op(0).storeUint(0x414, 12))).toMatchObject({ comment: 'A@' });
  });

  it.each([
    ['no UTF-8', op(0).storeUint(0xff, 8).endCell()],
    ['no UTF-8 in the next cell', op(0).storeRef(new Builder().storeUint(0xff, 8).endCell()).endCell()],
    ['a next cell that is exotic', op(0).storeRef(library.endExotic()).endCell()],
  ])('is no comment with %s', (_, cell) => {
    expect(decodeMessageBody(cell)).toEqual({ opcodeName: 'text_comment', decoded: null });
  });

  it('may begin one cell below, whatever stands before', () => {
    const below = comment('below', new Builder());
    for (const before of [op(0), op(0).storeUint(0xff, 8), op(0).storeUint(1, 4), op(0).storeUint(0x5000, 15)]) {
      expect(decoded(before.storeRef(below)), `${before.bits} bits`).toMatchObject({ comment: 'below' });
    }
    expect(decoded(op(0).storeUint(0x41, 8).storeRef(below))).toMatchObject({ comment: 'Abelow' });
    expect(decoded(op(0).storeRef(below).storeRef(below))).toMatchObject({ comment: 'below' });
  });
});

describe('bodies inside a body', () => {
  it('stay bags of cells when their opcode is unknown', () => {
    const cell = op(UNKNOWN).storeRef(comment('x')).endCell();
    expect(decoded(op(BOUNCE).storeUint(UNKNOWN, 32).storeRef(comment('x')))).toEqual({
      '@type': 'bounce',
      payload: boc(cell),
    });
  });

  it('are decoded ten deep', () => {
    let cell = op(BOUNCE).endCell();
    for (let i = 0; i < 14; i++)
      cell = op(0x9971881c + i)
        .storeRef(cell)
        .endCell();
    // cocoon_register_proxy holds a Cell, and so does each below.
    let nested = comment('deep');
    for (let i = 0; i < 12; i++) nested = op(0x4ee9b106).storeRef(nested).endCell();
    let value: unknown = decoded(nested);
    let depth = 0;
    for (; typeof value === 'object' && value !== null && 'next' in value; depth++) value = value.next;
    expect(depth).toBe(11);
    expect(value).toBe(boc(op(0x4ee9b106).storeRef(comment('deep')).endCell()));
  });

  it('are written as ordinary cells when they are exotic', () => {
    expect(decoded(op(0x4ee9b106).storeRef(library.endExotic()))).toEqual({
      '@type': 'coffee_cross_dex_resend_forward_payload',
      next: boc(library.endCell()),
    });
  });
});

describe('a hostile body', () => {
  /** A dictionary whose forks have one cell on both sides: 2^depth ways through `depth` cells. */
  function manyWays(depth: number): Cell {
    let cell = new Builder().storeUint(0b00, 2).storeUint(0, 1).endCell();
    for (let i = 0; i < depth; i++) cell = new Builder().storeUint(0b00, 2).storeRef(cell).storeRef(cell).endCell();
    return cell;
  }

  it('with very many ways through few cells is not decoded', () => {
    const body = op(0x78d9f109).storeUint(0, 64).storeBit(true).storeRef(manyWays(267)).endCell();
    const start = cpuMs();
    expect(decodeMessageBody(body)).toEqual({ opcodeName: 'jvault_claim_rewards_msg', decoded: null });
    expect(cpuMs() - start).toBeLessThan(1000);
  });

  it('is no dictionary with very many entries', () => {
    const entries = Array.from({ length: 4000 }, (_, i) => {
      const key = new Uint8Array(32);
      new DataView(key.buffer).setUint32(0, i * 1000);
      return [key, op(UNKNOWN).storeUint(i, 400)] as const;
    });
    const keys = buildDictionary(256, entries);
    const shown = decoded(op(0x0302cd79).storeUint(0, 64).storeBit(true).storeRef(keys!));
    expect(JSON.stringify(shown).split('hashmap_node_leaf').length).toBe(4001);
  });

  it('with large bags of cells on very many ways is not decoded', () => {
    let big = new Builder().storeUint(UNKNOWN, 32).endCell();
    for (let i = 0; i < 900; i++) big = op(UNKNOWN).storeUint(i, 800).storeRef(big).endCell();
    // A map of keys of 256 bits to a Cell each, all the same.
    let map = new Builder().storeUint(0b110, 3).storeUint(248, 8).storeRef(big).endCell();
    for (let i = 0; i < 8; i++) map = new Builder().storeUint(0b00, 2).storeRef(map).storeRef(map).endCell();
    const start = cpuMs();
    const body = op(0x0302cd79).storeUint(0, 64).storeBit(true).storeRef(map).endCell();
    expect(decodeMessageBody(body)).toEqual({ opcodeName: 'storm_deploy_ordinary_sa', decoded: null });
    expect(cpuMs() - start).toBeLessThan(2000);
  });

  it('that is very deep is not decoded', () => {
    let list = new Builder().endCell();
    for (let i = 0; i < 1000; i++) list = op(0xad4de08e).storeRef(list).storeRef(comment('')).endCell();
    const body = op(0xae42e5a4).storeUint(0, 64).storeRef(list).endCell();
    expect(decoded(body)).toEqual({ '@type': 'highload_v3_internal_request', rest: expect.any(String) });
  });

  it('that is exotic is not decoded', () => {
    expect(decodeMessageBody(library.endExotic())).toEqual({ opcodeName: null, decoded: null });
  });
});
