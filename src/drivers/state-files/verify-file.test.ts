import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '#drivers/state-files/byte-source.js';
import { HashStore } from '#drivers/state-files/hash-store.js';
import { openStateFile } from '#drivers/state-files/state-file.js';
import { type VerifiedFile, verifyStateFile } from '#drivers/state-files/verify-file.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { createMerkleProof } from '#formats/cells/merkle-proof.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { removeExportedStates, stateFolder, testStates } from '#test/support/exported-states.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { vectorPath } from '#test/support/vector-files.js';

const MIB = 2 ** 20;
let folder: string;
let files: readonly Uint8Array[];

function verify(bytes: Uint8Array, hashBytes = 16 * MIB): VerifiedFile {
  return verifyStateFile(openStateFile(memorySource('state.boc', bytes)), { hashBytes, folder });
}

beforeAll(() => {
  folder = stateFolder();
  const ledger = keptReplay(vectorPath('dev-chain'), { to: 120, head: null });
  files = testStates(ledger, 120, 2).files.map((file) => readFileSync(file));
});

afterAll(removeExportedStates);

describe('a state file', () => {
  it('has the root hash that parsing it gives', () => {
    for (const bytes of files) {
      const { root_hash, root_depth } = verify(bytes);
      const root = parseBocRoot(bytes);
      expect(toHex(root_hash)).toBe(toHex(root.hash()));
      expect(root_depth).toBe(root.depth());
    }
  });

  it('may contain cells of several levels', () => {
    const tree = new Builder().storeUint(1, 8).storeRef(new Builder().storeUint(2, 8).storeRef(leaf(3)).endCell());
    const proof = createMerkleProof(tree.storeRef(leaf(4)).endCell(), (cell) => cell.bits === 8 && cell.refCount === 2);
    const root = new Builder().storeRef(proof).storeRef(leaf(5)).endCell();
    for (const each of [proof, root]) {
      expect(toHex(verify(serializeBoc(each, BLOCK_FILE)).root_hash)).toBe(toHex(each.hash()));
    }
  });

  it('is refused with the byte, or has another root hash, when one of its bytes is changed', () => {
    const bytes = files.toSorted((a, b) => a.length - b.length)[0]!;
    const { root_hash } = verify(bytes);
    let offsets = 0;
    for (let at = 0; at < bytes.length; at += at < 2000 ? 1 : 7) {
      const changed = bytes.slice();
      changed[at]! ^= 1 << (at & 7);
      try {
        expect(bytesEqual(verify(changed).root_hash, root_hash), `byte ${at}`).toBe(false);
      } catch (error) {
        if (!isTernError(error)) throw error;
        expect(error.code, `byte ${at}: ${error.message}`).toMatch(/^state-files\/(damaged|not-a-state)$/);
        expect(error.data.offset, `byte ${at}`).toBeTypeOf('number');
        offsets++;
      }
    }
    // The checksum tells of each.
    expect(offsets).toBe(Math.min(bytes.length, 2000) + Math.max(0, Math.ceil((bytes.length - 2000) / 7)));
  });

  it('is refused when it ends early, or goes on', () => {
    const bytes = files[0]!;
    for (const length of [0, 3, 5, 20, 1000, bytes.length - 1]) {
      expect(() => verify(bytes.subarray(0, length)), `${length} bytes`).toThrow(/state\.boc/);
    }
    expect(() => verify(Buffer.concat([bytes, Buffer.from([0])]))).toThrow(/byte/);
  });

  it('is refused without an index, and when no reference leads to a cell', () => {
    const root = parseBocRoot(files[0]!);
    expect(() => verify(serializeBoc(root))).toThrow(/no index/);
    const two = serializeBoc([leaf(1), leaf(2)], { index: true });
    // The same bag with one root: magic, sizes, 2 cells, 2 roots, 0 absent, bytes, roots.
    const one = Buffer.concat([two.subarray(0, 7), Buffer.from([1, 0, two[9]!, 0]), two.subarray(12)]);
    expect(() => verify(one)).toThrow(/no cell refers to cell 1/);
  });
});

function leaf(value: number) {
  return new Builder().storeUint(value, 32).endCell();
}

describe('the store of hashes', () => {
  it('returns what was stored, from memory and from its scratch file', () => {
    const cells = 100_000;
    const store = new HashStore(cells, 0, join(folder, 'scratch'));
    const fillOf = (cell: number): number => (cell * 31) % 251;
    for (let cell = cells - 1; cell >= 0; cell--) {
      const at = store.placeToFill(cell);
      store.bytes.fill(fillOf(cell), at, at + 34);
      const other = cell + ((cell * 7919) % (cells - cell));
      const found = store.place(other);
      if (store.bytes[found] !== fillOf(other) || store.bytes[found + 33] !== fillOf(other)) {
        expect.fail(`cell ${other} has ${store.bytes[found]} instead of ${fillOf(other)}`);
      }
    }
    expect(store.scratchBytes).toBeGreaterThan(cells * 34 * 0.9);
    store.close();
  });
});
