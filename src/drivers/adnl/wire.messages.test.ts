import { describe, expect, it } from 'vitest';
import {
  MAX_PACKET_LENGTH,
  maxDataBytes,
  queryKey,
  readMessage,
  writeAnswer,
  writePing,
  writePong,
  writeQuery,
} from '#drivers/adnl/wire.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

const id = new Uint8Array(32).fill(0xaa);

it('the known query has its bytes', () => {
  const query = fromHex('df068c791092b8eaba05000000e80300002ee6b589000000')!;
  const bytes = `7af98bb4${'aa'.repeat(32)}18df068c791092b8eaba05000000e80300002ee6b589000000000000`;
  expect(toHex(writeQuery(id, query))).toBe(bytes);
  expect(readMessage(fromHex(bytes)!)).toEqual({ kind: 'query', id, data: query });
});

it.each([0, 1, 253, 254, 255, 70_000])('an answer of %d bytes is written and read', (length) => {
  const data = Uint8Array.from({ length }, (_, i) => i);
  const bytes = writeAnswer(id, data);
  expect(bytes.length % 4).toBe(0);
  expect(readMessage(bytes)).toEqual({ kind: 'answer', id, data });
});

it('pings and pongs are 12 bytes', () => {
  expect(toHex(writePing(-2n))).toBe('9a2b084dfeffffffffffffff');
  expect(toHex(writePong(1n))).toBe('03fb69dc0100000000000000');
  expect(readMessage(writePing(-2n))).toEqual({ kind: 'ping', randomId: -2n });
  expect(readMessage(writePong(1n))).toEqual({ kind: 'pong', randomId: 1n });
});

it('what is not spoken here is no fault', () => {
  expect(readMessage(new Uint8Array(0))).toEqual({ kind: 'nothing' });
  expect(readMessage(new Uint8Array(3))).toEqual({ kind: 'other' });
  expect(readMessage(fromHex('12ab5b4404010203')!)).toEqual({ kind: 'other' });
});

describe('a message that is cut short or goes on is refused', () => {
  it.each([
    ['answer', writeAnswer(id, Uint8Array.of(1, 2, 3))],
    ['long answer', writeAnswer(id, new Uint8Array(300))],
    ['query', writeQuery(id, new Uint8Array(0))],
    ['ping', writePing(1n)],
    ['pong', writePong(1n)],
  ])('%s', (_, bytes) => {
    for (let length = 4; length < bytes.length; length++) {
      expect(
        errorCode(() => readMessage(bytes.subarray(0, length))),
        `${length} bytes`,
      ).toBe('adnl/bad-message');
    }
    expect(errorCode(() => readMessage(Uint8Array.of(...bytes, 0, 0, 0, 0)))).toBe('adnl/bad-message');
  });
});

it('the largest data fits into a packet', () => {
  const most = maxDataBytes(MAX_PACKET_LENGTH);
  expect(writeAnswer(id, new Uint8Array(most)).length + 64).toBeLessThanOrEqual(MAX_PACKET_LENGTH);
  expect(writeAnswer(id, new Uint8Array(most + 4)).length + 64).toBeGreaterThan(MAX_PACKET_LENGTH);
});

it('ids are distinguished by their keys', () => {
  const other = Uint8Array.from(id);
  other[31] = 0x2a;
  expect(queryKey(id)).not.toBe(queryKey(other));
  expect(queryKey(id)).toBe(queryKey(Uint8Array.from(id)));
});
