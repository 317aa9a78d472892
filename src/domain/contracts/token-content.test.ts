import { describe, expect, it } from 'vitest';
import { readTokenContent, sha256KeyOf } from '#domain/contracts/token-content.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { storeChunkedBytes, storeSnakeBytes, storeSnakeText } from '#formats/cells/snake.js';
import { toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

const snake = (text: string): Cell => storeSnakeText(text, new Builder().storeUint(0, 8)).endCell();
const inRef = (cell: Cell): Builder => new Builder().storeRef(cell);

function onchain(values: Readonly<Record<string, Builder>>): Cell {
  const entries = Object.entries(values).map(([name, value]) => [sha256KeyOf(name), value] as const);
  const sorted = entries.sort(([a], [b]) => Buffer.compare(a, b));
  const root = buildDictionary(256, sorted);
  const cell = new Builder().storeUint(0, 8).storeBit(root !== null);
  return (root === null ? cell : cell.storeRef(root)).endCell();
}

const offchain = (text: string): Cell => storeSnakeText(text, new Builder().storeUint(1, 8)).endCell();

describe('readTokenContent', () => {
  it('reads a link, over as many cells as it takes', () => {
    expect(readTokenContent(offchain('https://example.com/1.json'))).toEqual({
      type: 'offchain',
      data: 'https://example.com/1.json',
    });
    const long = `https://example.com/${'ü'.repeat(500)}`;
    expect(readTokenContent(offchain(long))).toEqual({ type: 'offchain', data: long });
    expect(readTokenContent(offchain(''))).toEqual({ type: 'offchain', data: '' });
  });

  it('reads a link that is not UTF-8 as far as it goes', () => {
    const cell = new Builder()
      .storeUint(1, 8)
      .storeBytes(new Uint8Array([0x61, 0xff, 0x62]))
      .endCell();
    expect(readTokenContent(cell)).toEqual({ type: 'offchain', data: 'a\ufffdb' });
  });

  it('reads values in references and inline, snakes and chunks', () => {
    const description = 'd'.repeat(300);
    const chunks = storeChunkedBytes(Buffer.from(description), new Builder().storeUint(1, 8));
    const cell = onchain({
      name: inRef(snake('Coin')),
      symbol: storeSnakeText('CO', new Builder().storeUint(0, 8)),
      description: inRef(chunks.endCell()),
      decimals: inRef(snake('6')),
      uri: inRef(snake('https://example.com/more.json')),
    });
    expect(readTokenContent(cell)).toEqual({
      type: 'onchain',
      data: { uri: 'https://example.com/more.json', name: 'Coin', description, symbol: 'CO', decimals: '6' },
    });
  });

  it('gives an image in base64', () => {
    const image = storeSnakeBytes(new Uint8Array([0xff, 0xd8, 0xff]), new Builder().storeUint(0, 8)).endCell();
    expect(readTokenContent(onchain({ image_data: inRef(image) }))).toEqual({
      type: 'onchain',
      data: { image_data: '/9j/' },
    });
  });

  it('leaves out what has no known key, no format, half bytes, or is not text', () => {
    const cell = onchain({
      'no such key': inRef(snake('x')),
      name: inRef(new Builder().storeUint(2, 8).storeUint(0x61, 8).endCell()),
      symbol: inRef(new Builder().storeUint(0, 8).storeUint(1, 9).endCell()),
      description: inRef(new Builder().storeUint(0, 8).storeUint(0xff, 8).endCell()),
      image: inRef(EMPTY_CELL),
      decimals: inRef(snake('9')),
      uri: new Builder(),
    });
    expect(readTokenContent(cell)).toEqual({ type: 'onchain', data: { decimals: '9' } });
    expect(readTokenContent(onchain({}))).toEqual({ type: 'onchain', data: {} });
  });

  it('ends a value of more than 8,192 bytes at a cell', () => {
    const text = 'x'.repeat(10_000);
    const read = readTokenContent(onchain({ name: inRef(snake(text)) }));
    // 126 bytes after the format, then cells of 127.
    expect(read).toEqual({ type: 'onchain', data: { name: 'x'.repeat(126 + 127 * 63) } });
    const chunks = storeChunkedBytes(Buffer.from(text), new Builder().storeUint(1, 8));
    expect(readTokenContent(onchain({ name: inRef(chunks.endCell()) }))).toEqual({
      type: 'onchain',
      data: { name: 'x'.repeat(127 * 64) },
    });
  });

  it('refuses what begins otherwise', () => {
    expect(errorCode(() => readTokenContent(new Builder().storeUint(0x68, 8).endCell()))).toBe(
      'contract-data/content-prefix',
    );
    expect(errorCode(() => readTokenContent(EMPTY_CELL))).toBe('contract-data/content-prefix');
    expect(errorCode(() => readTokenContent(new Builder().storeUint(0, 8).storeBit(true).endCell()))).toBe(
      'cells/slice-no-reference',
    );
  });

  it('knows the hashes of keys that TEP-64 gives', () => {
    expect(toHex(sha256KeyOf('name'))).toBe('82a3537ff0dbce7eec35d69edc3a189ee6f17d82f353a553f9aa96cb0be3ce89');
    expect(toHex(sha256KeyOf('uri'))).toBe('70e5d7b6a29b392f85076fe15ca2f2053c56c2338728c4e33c9e8ddb1ee827cc');
  });

  it('is quick with a chain of cells that all are one', () => {
    let cell = EMPTY_CELL;
    for (let i = 0; i < 1_000; i++) cell = new Builder().storeRef(cell).storeRef(cell).storeRef(cell).endCell();
    const link = new Builder().storeUint(1, 8).storeRef(cell).endCell();
    expect(readTokenContent(link)).toEqual({ type: 'offchain', data: '' });
  });
});
