import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RecognizedFile, recognizeFile } from '#drivers/state-files/state-set.js';
import { Address } from '#formats/address/address.js';
import { partShards } from '#formats/proofs/split-state.js';
import { shardPrefixLength } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { AccountBatches, type AccountFile, StateLookup } from '#services/indexer/import/state-accounts.js';
import { removeExportedStates, testStates } from '#test/support/exported-states.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { vectorPath } from '#test/support/vector-files.js';

let files: readonly AccountFile[];
/** Account hashes by address, of each file. */
let expected: readonly ReadonlyMap<string, string>[];

beforeAll(() => {
  const ledger = keptReplay(vectorPath('dev-chain'), { to: null, head: null });
  const states = testStates(ledger, ledger.lastSeqno, 0).files.map(
    (path) => recognizeFile(path) as RecognizedFile & { readonly kind: 'state' },
  );
  files = states.map(({ file, ident: { workchain, shard, gen_utime } }) => ({
    ...{ workchain, shard, gen_utime, file, isPart: false, root_hash: new Uint8Array(32) },
  }));
  expected = states.map(({ ident: { workchain, shard, seqno } }) => {
    const block = ledger.lookup({ workchain, shard, by: 'seqno', seqno })!;
    const { accounts } = decodeCell(ShardStateUnsplit, ledger.state(block));
    const entries = [...accounts.value.entries()];
    return new Map(entries.map(([id, { account }]) => [`${workchain}:${toHex(id)}`, toHex(account.cell.hash())]));
  });
});

afterAll(removeExportedStates);

function read(file: AccountFile, shard: bigint, after: Uint8Array | null = null): [string, string][] {
  const batches = new AccountBatches({ file, shard }, after);
  const all: [string, string][] = [];
  for (let batch = batches.next(); batch !== null; batch = batches.next()) {
    for (const { address, found } of batch.accounts) all.push([address.toRaw(), toHex(found.cell.hash())]);
  }
  return all;
}

/** The intervals of the batches of a range, as one. */
function intervalOf(file: AccountFile, shard: bigint, from: Uint8Array | null = null): [string, string] {
  const batches = new AccountBatches({ file, shard }, from);
  const first = batches.next()!.interval;
  let last = first.last;
  for (let batch = batches.next(); batch !== null; batch = batches.next()) {
    expect(batch.interval.after).toEqual(last);
    last = batch.interval.last;
  }
  return [toHex(first.after), toHex(last)];
}

describe('the accounts of a state file', () => {
  it('are all read, in order of their ids, as a whole and by ranges', () => {
    expect(expected.reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(100);
    for (const [i, file] of files.entries()) {
      const whole = [...expected[i]!];
      expect(read(file, file.shard)).toEqual(whole);
      for (const more of [1, 4, 6]) {
        const ranges = partShards(file.shard, shardPrefixLength(file.shard) + more);
        expect(ranges).toHaveLength(2 ** more);
        expect(ranges.flatMap((shard) => read(file, shard))).toEqual(whole);
      }
    }
  });

  it('are read from behind any of them', () => {
    const i = expected.findIndex(({ size }) => size === Math.max(...expected.map((each) => each.size)));
    const whole = [...expected[i]!];
    for (let at = 0; at < whole.length; at += 17) {
      const id = Buffer.from(whole[at]![0].split(':')[1]!, 'hex');
      expect(read(files[i]!, files[i]!.shard, id)).toEqual(whole.slice(at + 1));
    }
  });

  it('say between which addresses there are no others: all of a range, without a gap to the next one', () => {
    for (const file of files) {
      const prefix = file.workchain === -1 ? 'ff' : '00';
      for (const more of [0, 1, 5]) {
        const ranges = partShards(file.shard, shardPrefixLength(file.shard) + more);
        const intervals = ranges.map((shard) => intervalOf(file, shard));
        const [begin, end] = intervalOf(file, file.shard);
        expect([intervals[0]![0], intervals.at(-1)![1]]).toEqual([begin, end]);
        for (const [i, [after]] of intervals.slice(1).entries()) expect(after).toBe(intervals[i]![1]);
        // The first and the last shard of a workchain have its first and its last address.
        if (BigInt.asUintN(64, file.shard) === 1n << 63n) {
          expect([begin, end]).toEqual([prefix, prefix + 'f'.repeat(64)]);
        }
      }
      const id = new Uint8Array(32).fill(0x55);
      expect(intervalOf(file, file.shard, id)[0]).toBe(prefix + toHex(id));
    }
  });

  it('are found by address', () => {
    const lookup = new StateLookup(files);
    for (const [i, file] of files.entries()) {
      for (const batch of [new AccountBatches({ file, shard: file.shard }, null).next()]) {
        for (const { address } of batch!.accounts) {
          expect(toHex(lookup.find(address)!.found.cell.hash())).toBe(expected[i]!.get(address.toRaw()));
          const hash = address.hash.slice();
          hash[31]! ^= 1;
          expect(lookup.find(Address.ofParts(address.workchain, hash))).toBeNull();
        }
      }
    }
  });
});
