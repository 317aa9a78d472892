import { expect, it } from 'vitest';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { prevMcBlocks } from '#formats/proofs/shard-state.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { vectorPath } from '#test/support/vector-files.js';

const ledger = keptReplay(vectorPath('recorded-chain'), { to: null, head: null });
const blockAt = (seqno: number) => ledger.lookup({ by: 'seqno', ...MASTERCHAIN_SHARD, seqno })!;
const extraAt = (seqno: number) => decodeCell(ShardStateUnsplit, ledger.state(blockAt(seqno))).custom!.value;

it('the blocks before one are those of the chain, newest first, down to the zerostate', () => {
  const block = blockAt(10).id;
  const found = prevMcBlocks(block, extraAt(10), 13);
  expect(found.last_mc_blocks.map(({ seqno }) => seqno)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  expect(found.last_mc_blocks.slice(0, -1)).toEqual(
    found.last_mc_blocks.slice(0, -1).map(({ seqno }) => blockAt(seqno).id),
  );
  expect(found.prev_key_block).toEqual(ledger.zerostate);
  expect(found.last_mc_blocks_100).toEqual([ledger.zerostate]);
});

it('before global version 9 there are none by hundreds', () => {
  expect(prevMcBlocks(blockAt(10).id, extraAt(10), 8).last_mc_blocks_100).toEqual([]);
});

it('a state does not know blocks after its own', () => {
  const ahead = { ...blockAt(10).id, seqno: 11 };
  const code = proofsErrors['old-block'].code;
  expect(() => prevMcBlocks(ahead, extraAt(5), 13)).toThrow(expect.objectContaining({ code }));
});
