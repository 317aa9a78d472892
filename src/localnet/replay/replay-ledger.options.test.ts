import { expect, it } from 'vitest';
import { parsePace, parseSeqno } from '#localnet/replay/replay-ledger.js';
import { errorCode } from '#test/support/error-code.js';

it('a pace is real, a factor, or a rate', () => {
  expect(['real', '10x', '0.5x', '3', '0.25'].map(parsePace)).toEqual([
    { kind: 'times', factor: 1 },
    { kind: 'times', factor: 10 },
    { kind: 'times', factor: 0.5 },
    { kind: 'blocks', perSecond: 3 },
    { kind: 'blocks', perSecond: 0.25 },
  ]);
  for (const text of ['', '0', '0x', '-1', 'x', '10 x', '1e3', '9999999', 'fast']) {
    expect(
      errorCode(() => parsePace(text)),
      text,
    ).toBe('replay/bad-option');
  }
});

it('a seqno is a whole number from 1 on', () => {
  expect(parseSeqno('--to', '4294967295')).toBe(4294967295);
  for (const text of ['0', '-1', '1.5', '', '4294967296', '0x10']) {
    expect(
      errorCode(() => parseSeqno('--to', text)),
      text,
    ).toBe('replay/bad-option');
  }
});
