import { beforeAll, describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { mergeAugmentedDictionaries } from '#formats/cells/dict-edit.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { openStateHeader, readStateIdent, splitStateHeader, statePartsOf } from '#formats/proofs/split-state.js';
import { ShardAccounts } from '#formats/tlb/account.js';
import { shardContains, shardHex, shardPrefixLength } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { vectorPath } from '#test/support/vector-files.js';

let state: Cell;
/** Length of the prefix of its shard. */
let bits: number;

function accountsOf(cell: Cell): number {
  return decodeCell(ShardStateUnsplit, cell).accounts.value.count();
}

beforeAll(() => {
  const ledger = keptReplay(vectorPath('dev-chain'), { to: null, head: null });
  const { custom } = decodeCell(ShardStateUnsplit, ledger.state(ledger.head!));
  const states = [...shardDescrs(custom!.value.shard_hashes)].map((shard) =>
    ledger.state(ledger.block(blockOfShard(shard))!),
  );
  state = states.toSorted((a, b) => accountsOf(b) - accountsOf(a))[0]!;
  bits = shardPrefixLength(readStateIdent(state)!.shard);
});

describe('a divided state', () => {
  it.each([1, 2, 4])('has all accounts in parts of %i bits more', (more) => {
    const parts = statePartsOf(state, bits + more);
    expect(parts.length).toBeGreaterThan(1);
    let merged: Cell | null = null;
    for (const part of parts) {
      expect(toHex(part.root.hash())).toBe(toHex(parseBocRoot(serializeBoc(part.root, BLOCK_FILE)).hash()));
      const { root, type } = decodeCell(ShardAccounts, part.root);
      for (const [id] of decodeCell(ShardAccounts, part.root).entries()) {
        const prefix = BigInt(`0x${toHex(id.subarray(0, 8))}`);
        expect(shardContains(part.shard, prefix), shardHex(part.shard)).toBe(true);
      }
      merged = mergeAugmentedDictionaries(merged, root, 256, type.augmentation).root;
    }
    const { accounts } = decodeCell(ShardStateUnsplit, state);
    expect(toHex(merged!.hash())).toBe(toHex(accounts.value.root!.hash()));
  });

  it('has a header that proves the hashes of the parts, and from which nothing but accounts is left out', () => {
    const header = parseBocRoot(serializeBoc(splitStateHeader(state, bits + 2), BLOCK_FILE));
    const visible = openStateHeader(header)!;
    expect(toHex(visible.hash(0))).toBe(toHex(state.hash()));
    expect(readStateIdent(visible)).toEqual(readStateIdent(state));
    expect(visible.ref(0).levelMask).toBe(0);
    expect(visible.ref(2).levelMask).toBe(0);
    const hashes = (parts: ReturnType<typeof statePartsOf>) =>
      parts.map(({ shard, root }) => [shardHex(shard), toHex(root.hash(0))]);
    expect(hashes(statePartsOf(visible, bits + 2))).toEqual(hashes(statePartsOf(state, bits + 2)));
    expect(() => statePartsOf(visible, bits + 6)).toThrow(expect.objectContaining({ code: 'cells/pruned-branch' }));
    expect(openStateHeader(state)).toBeNull();
  });
});
