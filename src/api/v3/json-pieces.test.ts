import { describe, expect, it } from 'vitest';
import { textOfJson } from '#api/http/endpoint.js';
import { jsonInUtf8, jsonPieces } from '#api/v3/json-pieces.js';

const LONG = 'я'.repeat(10_000);

describe('pieces of JSON', () => {
  it('stay a string as long as they are few characters, and none is in UTF-8', () => {
    expect(jsonPieces('{"a":[', '"ö"', '],').joinWith('"b":1}')).toEqual({ json: '{"a":["ö"],"b":1}', from: 11 });
  });

  it.each([
    ['one of them is', ['{"a":[', jsonInUtf8('"ö"'), '],'], '{"a":["ö"],"b":"ü"}', 12],
    ['they are long', ['{"a":["', LONG, '"],'], `{"a":["${LONG}"],"b":"ü"}`, 20_010],
  ])('are joined in UTF-8 where %s, and the end begins at a byte', (_, pieces, whole, from) => {
    const joined = jsonPieces(...pieces).joinWith('"b":"ü"}');
    expect([joined.json instanceof Uint8Array, textOfJson(joined.json), joined.from]).toEqual([true, whole, from]);
  });

  it('have memory of their own, which may go to another thread', () => {
    const bytes = jsonPieces(jsonInUtf8('1'), ',2').inUtf8();
    expect([bytes.byteOffset, bytes.buffer.byteLength]).toEqual([0, bytes.length]);
  });
});
