import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { type NewEntry, Pack, RECORD_BYTES } from '#localnet/ledger/pack.js';
import { errorOf } from '#test/support/error-code.js';
import { onFullDisk } from '#test/support/full-disk.js';
import { inNewFolder } from '#test/support/new-bundles.js';

/** A bundle of a block of the basechain and one of the masterchain, of so many bytes each. */
function bundleOf(seqno: number, length: number): NewEntry[] {
  const hash = new Uint8Array(32).fill(seqno);
  const entryOf = (id: BlockId): NewEntry => {
    const bytes = new Uint8Array(length).fill(length);
    return { id, bytes, proofBytes: bytes, gen_utime: 1, end_lt: 1n, mc_seqno: seqno, key_block: false };
  };
  const id = { seqno, root_hash: hash, file_hash: hash };
  return [entryOf({ ...MASTERCHAIN_SHARD, workchain: 0, ...id }), entryOf({ ...MASTERCHAIN_SHARD, ...id })];
}

const LONG = 500;
const SHORT = 20;

function sizesOf({ file, indexFile }: Pack): readonly number[] {
  return [file, indexFile].map((each) => statSync(each).size);
}

function seqnosIn(folder: string): readonly number[] {
  const seqnos: number[] = [];
  Pack.open(folder, 1, true, ({ workchain, seqno }) => workchain === 0 && seqnos.push(seqno)).close();
  return seqnos;
}

/** Bytes of the long bundle, by where the disk is full: at its beginning, in its blocks, in its index. */
const ROOMS = [0, 700, 2_500 + RECORD_BYTES];

describe('a bundle that the disk has no space for', () => {
  it.each(ROOMS)('leaves nothing behind after %d bytes, so that a shorter one can take its place', (room) =>
    inNewFolder((folder) => {
      const pack = Pack.create(folder, 1);
      pack.append(bundleOf(1, LONG));
      const before = sizesOf(pack);
      const error = errorOf(() => onFullDisk({ room }, () => pack.append(bundleOf(2, LONG))));
      expect([error.code, sizesOf(pack)]).toEqual(['ledger/unwritable', before]);
      pack.append(bundleOf(2, SHORT));
      pack.close();
      expect(seqnosIn(folder)).toEqual([1, 2]);
    }),
  );

  it.each(ROOMS)('is cut off later when that fails as well, after %d bytes', (room) =>
    inNewFolder((folder) => {
      const pack = Pack.create(folder, 1);
      pack.append(bundleOf(1, LONG));
      const before = sizesOf(pack);
      const fail = (seqno: number) =>
        errorOf(() => onFullDisk({ room, canCut: false }, () => pack.append(bundleOf(seqno, LONG))));
      expect(fail(2).code).toBe('ledger/unwritable');
      expect(fail(2).code).toBe('ledger/unwritable');
      pack.append(bundleOf(2, SHORT));
      expect(sizesOf(pack)[0]).toBeLessThan(before[0]! * 1.5);
      const after = sizesOf(pack);
      fail(3);
      pack.close();
      expect(sizesOf(pack)).toEqual(after);
      expect(seqnosIn(folder)).toEqual([1, 2]);
    }),
  );
});
