import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { openCell } from '#formats/cells/slice.js';
import {
  loadChunkedBytes,
  loadContentBytes,
  loadSnakeBytes,
  loadSnakeText,
  storeChunkedBytes,
  storeSnakeBytes,
  storeSnakeText,
} from '#formats/cells/snake.js';
import { cpuMs } from '#test/support/cpu-time.js';
import { sliceOf } from '#test/support/dictionaries.js';
import { errorCode } from '#test/support/error-code.js';

const data = fc.oneof(fc.uint8Array({ maxLength: 900 }), fc.uint8Array({ minLength: 120, maxLength: 135 }));

describe('snake data', () => {
  it('gives back what was stored, after anything that stood before it', () => {
    fc.assert(
      fc.property(data, fc.nat(1023), (bytes, before) => {
        const builder = new Builder().storeUint(0, before);
        const slice = sliceOf(storeSnakeBytes(bytes, builder));
        expect(loadSnakeBytes(slice.skip(before))).toEqual(bytes);
        expect(slice.isEmpty).toBe(true);
      }),
    );
  });

  it('fills each cell with 127 bytes', () => {
    const root = storeSnakeBytes(new Uint8Array(300).fill(7)).endCell();
    const lengths = [root, root.ref(0), root.ref(0).ref(0)].map((cell) => cell.bits);
    expect(lengths).toEqual([1016, 1016, 46 * 8]);
    expect(root.ref(0).ref(0).refCount).toBe(0);
    expect(storeSnakeBytes(new Uint8Array(127)).refs).toBe(0);
    expect(storeSnakeBytes(new Uint8Array(128)).refs).toBe(1);
  });

  it('is text in UTF-8 when it is', () => {
    for (const text of ['', 'Hello', '\ufeffmark', 'Привет, 世界 🙂'.repeat(40)]) {
      expect(loadSnakeText(sliceOf(storeSnakeText(text)))).toBe(text);
    }
    // A character that two cells share.
    expect(loadSnakeText(sliceOf(storeSnakeText(`${'x'.repeat(126)}é`)))).toBe(`${'x'.repeat(126)}é`);
    expect(errorCode(() => loadSnakeText(sliceOf(new Builder().storeUint(0xff, 8))))).toBe('cells/snake-text');
  });

  it('has a limit', () => {
    const slice = () => sliceOf(storeSnakeBytes(new Uint8Array(500)));
    expect(loadSnakeBytes(slice(), { limit: 500 }).length).toBe(500);
    expect(errorCode(() => loadSnakeBytes(slice(), { limit: 499 }))).toBe('cells/snake-too-long');
    const longest = 127 * 1025;
    expect(loadSnakeBytes(sliceOf(storeSnakeBytes(new Uint8Array(longest)))).length).toBe(longest);
    expect(errorCode(() => storeSnakeBytes(new Uint8Array(longest + 1)))).toBe('cells/snake-too-long');
    // Empty cells count, too.
    let chain: Cell = EMPTY_CELL;
    for (let i = 0; i < 500; i++) chain = new Builder().storeRef(chain).endCell();
    expect(loadSnakeBytes(openCell(chain)).length).toBe(0);
    expect(errorCode(() => loadSnakeBytes(openCell(chain), { limit: 100 }))).toBe('cells/snake-too-long');
  });

  it('is of whole bytes and one reference at most', () => {
    const half = new Builder().storeUint(1, 4);
    const two = new Builder().storeRef(EMPTY_CELL).storeRef(EMPTY_CELL);
    expect(errorCode(() => loadSnakeBytes(sliceOf(half)))).toBe('cells/snake-shape');
    expect(errorCode(() => loadSnakeBytes(sliceOf(new Builder().storeRef(half.endCell()))))).toBe('cells/snake-shape');
    expect(errorCode(() => loadSnakeBytes(sliceOf(two)))).toBe('cells/snake-shape');
    const full = new Builder();
    for (let i = 0; i < 4; i++) full.storeRef(EMPTY_CELL);
    expect(errorCode(() => storeSnakeBytes(new Uint8Array(128), full))).toBe('cells/cell-overflow');
  });
});

describe('chunked data', () => {
  it('gives back what was stored', () => {
    fc.assert(
      fc.property(data, (bytes) => {
        const slice = sliceOf(storeChunkedBytes(bytes));
        expect(loadChunkedBytes(slice)).toEqual(bytes);
        expect(slice.isEmpty).toBe(true);
        expect(loadContentBytes(sliceOf(storeChunkedBytes(bytes, new Builder().storeUint(1, 8))))).toEqual(bytes);
        expect(loadContentBytes(sliceOf(storeSnakeBytes(bytes, new Builder().storeUint(0, 8))))).toEqual(bytes);
      }),
    );
  });

  it('refuses a wrong tag, wrong chunks, and more than its limit', () => {
    expect(errorCode(() => loadContentBytes(sliceOf(new Builder().storeUint(2, 8))))).toBe('cells/content-tag');
    const chunks = (value: Builder) =>
      sliceOf(new Builder().storeBit(true).storeRef(buildDictionary(32, [[new Uint8Array(4), value]])!));
    expect(errorCode(() => loadChunkedBytes(chunks(new Builder())))).toBe('cells/slice-no-reference');
    expect(errorCode(() => loadChunkedBytes(chunks(new Builder().storeBit(true).storeRef(EMPTY_CELL))))).toBe(
      'cells/slice-not-empty',
    );
    const long = () => sliceOf(storeChunkedBytes(new Uint8Array(1000)));
    expect(loadChunkedBytes(long(), { limit: 1000 }).length).toBe(1000);
    expect(errorCode(() => loadChunkedBytes(long(), { limit: 999 }))).toBe('cells/snake-too-long');
  });

  it('ends soon when a few cells stand for very much', () => {
    let node = new Builder()
      .storeUint(0, 2)
      .storeRef(storeSnakeBytes(new Uint8Array(60_000)).endCell())
      .endCell();
    for (let i = 0; i < 32; i++) node = new Builder().storeUint(0, 2).storeRef(node).storeRef(node).endCell();
    const started = cpuMs();
    expect(errorCode(() => loadChunkedBytes(sliceOf(new Builder().storeBit(true).storeRef(node))))).toBe(
      'cells/snake-too-long',
    );
    expect(cpuMs() - started).toBeLessThan(2000);
  });
});
