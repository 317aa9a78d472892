import { describe, expect, it } from 'vitest';
import { decodeMessageBodyText, opcodeName, parseOpcode } from '#domain/message-bodies/decode-message-body.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { recordedDecodings } from '#test/support/message-bodies.js';

const excess = serializeBoc(new Builder().storeUint(0xd53276db, 32).storeUint(1, 64).endCell());
const library = new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32)).endExotic();

describe('an opcode as text', () => {
  it.each([
    ['0x0f8a7ea5', 0x0f8a7ea5],
    ['0F8A7EA5', 0x0f8a7ea5],
    ['10', 16],
    ['0', 0],
    ['260734629', 260734629],
    ['0x4294967295', 4294967295],
    ['-1', 4294967295],
    ['-2147483648', 2147483648],
    ['+7', 7],
    ['000000000000000f', 15],
  ])('%s is %i', (text, opcode) => {
    expect(parseOpcode(text)).toBe(opcode);
  });

  it.each(['', '0x', 'xyz', '0x1ffffffff', '4294967296', '-2147483649', '1,2', '1.5', '-', '0X1', ' 1', '-a'])(
    '%j is none',
    (text) => {
      expect(parseOpcode(text)).toBeNull();
    },
  );
});

describe('a body as text', () => {
  it('is decoded as the reference service decodes it', () => {
    for (const { opcodes, bodies, answer } of recordedDecodings) {
      const ours = {
        opcodes: opcodes.map((text) => opcodeName(parseOpcode(text) ?? -1) ?? 'unknown'),
        bodies: bodies.map(decodeMessageBodyText),
      };
      expect(JSON.stringify(ours), JSON.stringify({ opcodes, bodies })).toBe(JSON.stringify(answer));
    }
    expect(recordedDecodings.length).toBe(48);
  });

  it('is hexadecimal, or base64', () => {
    const expected = { '@type': 'excess', query_id: '1' };
    expect(decodeMessageBodyText(toHex(excess))).toEqual(expected);
    expect(decodeMessageBodyText(toHex(excess).toUpperCase())).toEqual(expected);
    expect(decodeMessageBodyText(toBase64(excess))).toEqual(expected);
  });

  it.each([
    ['te6', 'failed to decode base64: Wrong padding length'],
    ['te6ccg===', 'failed to decode base64: Wrong string padding'],
    ['te6_', 'failed to decode base64: Wrong character in the string'],
    ['te6cch==', 'failed to decode base64: Wrong value in padding'],
    ['abc', 'failed to decode hex: Wrong hex string length'],
    ['xy', 'failed to decode hex: Wrong hex string'],
    ['', 'failed to deserialize boc: cannot deserialize bag-of-cells: not enough bytes (0 present, 10 required)'],
    [toHex(serializeBoc(new Builder().storeUint(1, 31).endCell())), 'boc is too small, size 31'],
    [toHex(serializeBoc(new Builder().storeUint(0x12345678, 32).endCell())), 'no parser succeeded'],
    [toHex(serializeBoc(library)), 'vm error - the body is an exotic cell'],
  ])('%s: %s', (text, reason) => {
    expect(decodeMessageBodyText(text)).toEqual({ error: `unknown: ${reason}` });
  });

  it('says why a bag of cells cannot be read', () => {
    expect(decodeMessageBodyText(toHex(excess.subarray(0, 20)))).toEqual({
      error: expect.stringMatching(/^unknown: failed to deserialize boc: ./),
    });
  });
});

it('takes no longer for padding that other characters follow', () => {
  expect(decodeMessageBodyText(`te6${'='.repeat(1_000_000)}A`)).toBeDefined();
});
