import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Cell as CoreCell } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { fromBase64, fromHex } from '#kernel/bytes.js';
import { expectSameTree } from '#test/support/cell-trees.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/** Bags of cells in texts: hexadecimal or base64, found by how the three magics begin. */
const HEX = /(?:b5ee9c72|68ff65f3|acc3a728)[0-9a-f]+/gi;
const BASE64 = /(?:te6cc|aP9l8[w-z0-9+/_-]|rMOnK[A-P])[A-Za-z0-9+/_-]+={0,2}/g;

interface FoundBoc {
  readonly where: string;
  readonly bytes: Uint8Array;
}

/** Every bag of cells in a folder: `.boc` files, and whatever looks like one inside of `.json` files. */
function* findBocs(path: string): Generator<FoundBoc> {
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path).sort()) yield* findBocs(join(path, name));
  } else if (path.endsWith('.boc')) {
    yield { where: path, bytes: readBytes(path) };
  } else if (path.endsWith('.json')) {
    // `want_go` is source text that was cut off after 5000 characters; the bags in it stand in other fields, too.
    const value = JSON.parse(readFileSync(path, 'utf8'), (key, field) => (key === 'want_go' ? null : field));
    const text = JSON.stringify(value);
    for (const match of text.matchAll(HEX)) yield { where: `${path} at ${match.index}`, bytes: fromHex(match[0])! };
    for (const match of text.matchAll(BASE64))
      yield { where: `${path} at ${match.index}`, bytes: fromBase64(match[0])! };
  }
}

/** Reads each with both libraries; returns how many bags there were and how many cells in them. */
function compareAll(path: string): { bags: number; cells: number } {
  let [bags, cells] = [0, 0];
  const seen = new Set<string>();
  for (const { where, bytes } of findBocs(path)) {
    expect(bytes, where).not.toBeNull();
    const { roots, table } = parseBoc(bytes);
    table.hashAll();
    const theirs = CoreCell.fromBoc(Buffer.from(bytes));
    expect(roots.length, where).toBe(theirs.length);
    for (const [i, root] of roots.entries()) cells += expectSameTree(root, theirs[i]!, where, seen);
    bags++;
  }
  return { bags, cells };
}

describe('bags of cells read as @ton/core reads them', () => {
  it.each(['examples', 'mainnet-genesis'])('vectors/%s', (folder) => {
    expect(compareAll(vectorPath(folder)).bags).toBeGreaterThan(1);
  });

  const rows: readonly [string, number][] = [
    ['contracts', 400],
    ['messages', 600],
    ['accounts', 100],
  ];
  for (const [folder, atLeast] of rows) {
    const path = vectorPath(`collection/${folder}`);
    it(`real ${folder}`, () => {
      const { bags, cells } = compareAll(path);
      console.info(`${folder}: ${bags} bags of cells, ${cells} different cells, all the same`);
      expect(bags).toBeGreaterThanOrEqual(atLeast);
    });
  }
});
