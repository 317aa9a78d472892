import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseBoc, parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { checkBlockHeader, checkRootHash, verifyBlockFile } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { Block } from '#formats/tlb/block.js';
import { shardOf } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { isTernError } from '#kernel/tern-error.js';
import { Random } from '#test/fuzz/random.js';
import { blockIdOfFile, blockIdOfName } from '#test/support/block-proof-files.js';
import { errorCode } from '#test/support/error-code.js';
import { partOf } from '#test/support/full-depth.js';
import { parseChainName, readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

/** How often each kind of refusal was met. */
type Tally = Record<string, number>;

const random = new Random('flipped bits');

function flipped(bytes: Uint8Array): Uint8Array {
  const damaged = bytes.slice();
  const bit = random.below(bytes.length * 8);
  damaged[bit >> 3]! ^= 0x80 >> (bit & 7);
  return damaged;
}

function count(tally: Tally, code: string): void {
  tally[code] = (tally[code] ?? 0) + 1;
}

/** A file with a checksum: its reader refuses any flip; so does, before reading, who knows the block's id. */
function refuseFile(bytes: Uint8Array, id: BlockId, tally: Tally): void {
  const damaged = flipped(bytes);
  const code = errorCode(() => parseBoc(damaged));
  expect(code).toMatch(/^cells\/boc-(crc|magic|header|truncated|trailing-bytes|absent-cells)$/);
  count(tally, code);
  expect(errorCode(() => verifyBlockFile(damaged, id))).toBe('proofs/file-hash');
}

/** The same cells without a checksum: a flip breaks the bag, or the hash of the root. */
function refuseCells(bytes: Uint8Array, id: BlockId, tally: Tally): void {
  const plain = serializeBoc(parseBoc(bytes).roots);
  try {
    const root = parseBoc(flipped(plain)).roots[0]!;
    checkRootHash(root, id);
    // What is left are flips of the root list's size field and the like, which lead to the very same cells.
    checkBlockHeader(root, id);
    count(tally, 'same cells');
  } catch (error) {
    if (!isTernError(error)) throw error;
    expect(error.code).toMatch(/^(cells\/(boc-|cell-)|proofs\/root-hash)/);
    count(tally, error.code);
  }
}

function refuse(blocks: Iterable<readonly [BlockId, Uint8Array]>): { readonly files: Tally; readonly cells: Tally } {
  const files: Tally = {};
  const cells: Tally = {};
  for (const [id, bytes] of blocks) {
    refuseFile(bytes, id, files);
    refuseCells(bytes, id, cells);
  }
  return { files, cells };
}

/** Of a chain with more blocks, a part is damaged. */
const MANY = 1000;

function* blocksOfChain(folder: string): Generator<readonly [BlockId, Uint8Array]> {
  const blocks = [...readChain(folder)].flatMap(({ name, data }) => {
    const id = parseChainName(name);
    return id?.kind === 'block' ? [[blockIdOfName(id), data] as const] : [];
  });
  yield* blocks.length > MANY ? partOf(blocks, 4) : blocks;
}

/** Blocks without a name that tells their id: it is taken from their header. */
function* blocksOfFolder(folder: string): Generator<readonly [BlockId, Uint8Array]> {
  for (const name of readdirSync(folder)) {
    if (/^(key_)?proof|\.json$/.test(name)) continue;
    const data = readBytes(`${folder}/${name}`);
    const { seq_no, shard } = decodeCell(Block, parseBocRoot(data)).info.value;
    yield [blockIdOfFile(data, seq_no, { workchain: shard.workchain_id, shard: shardOf(shard) }), data];
  }
}

function sum(tally: Tally): number {
  return Object.values(tally).reduce((a, b) => a + b, 0);
}

describe('a block with a flipped bit is refused', () => {
  it('of the vectors', () => {
    for (const folder of ['mainnet-genesis', 'recorded-net']) {
      const { files, cells } = refuse(blocksOfChain(vectorPath(folder)));
      expect(sum(files)).toBeGreaterThan(10);
      expect(sum(cells)).toBe(sum(files));
    }
  });

  for (const [name, blocks] of [
    ['mainnet-genesis', blocksOfChain],
    ['recorded-net/chain', blocksOfChain],
    ['mainnet-blocks', blocksOfFolder],
    ['mainnet-proofs', blocksOfFolder],
  ] as const) {
    const folder = vectorPath(`collection/${name}`);
    it(`of ${name}`, () => {
      const { files, cells } = refuse(blocks(folder));
      console.log(
        `${name}: ${sum(files)} files refused ${JSON.stringify(files)}; without checksum ${JSON.stringify(cells)}`,
      );
      expect(cells['proofs/root-hash'] ?? 0).toBeGreaterThan(0);
    });
  }
});
