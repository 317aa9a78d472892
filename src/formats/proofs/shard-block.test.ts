import { describe, expect, it } from 'vitest';
import type { BlockId } from '#formats/proofs/block-id.js';
import {
  blockOfShard,
  blockShardHashes,
  verifyAllShards,
  verifyShardBlock,
  verifyShardBlockChain,
  verifyShardInfo,
} from '#formats/proofs/shard-block.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { ShardHashes, shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { errorCode } from '#test/support/error-code.js';
import { bag, type GenesisBlock, genesisBlocks, headerProof, proofOf } from '#test/support/genesis-chain.js';

const masterchain = genesisBlocks(-1);
const shards = genesisBlocks(0);
const whole = 1n << 63n;
const topOf = (block: GenesisBlock): BlockId =>
  blockOfShard([...shardDescrs(blockShardHashes(block.root, block.id))][0]!);
/** A masterchain block that lists a basechain block of ours which has others of ours before it. */
const block = masterchain.find(
  (each) => each !== undefined && topOf(each).seqno >= 3 && shards[topOf(each).seqno] !== undefined,
)!;
const top = topOf(block);
const other = masterchain[block.id.seqno + 1] ?? masterchain[block.id.seqno - 1]!;

const shownShards = (state: ShardStateUnsplit): unknown => state.custom!.value.shard_hashes.get(0)!.value;
const shardProof = (from: GenesisBlock) =>
  bag(
    headerProof(from),
    proofOf(from.state, (root) => void shownShards(decodeCell(ShardStateUnsplit, root))),
  );
const blockProof = (from: GenesisBlock) =>
  bag(
    proofOf(from.root, (root) => {
      void decodeCell(Block, root).extra.value.custom!.value.shard_hashes.get(0)!.value;
    }),
  );

describe('the newest block of a shard', () => {
  it('is proven by the state of the masterchain', () => {
    expect(verifyShardBlock(block.id, top, shardProof(block)).entry.descr.seq_no).toBe(top.seqno);
  });

  it('is refused at the link that breaks', () => {
    const codeOf = (id: BlockId, proof = shardProof(block), from = block.id) =>
      errorCode(() => verifyShardBlock(from, id, proof));
    expect(codeOf({ ...top, seqno: top.seqno - 1 })).toBe('proofs/shard-block');
    expect(codeOf({ ...top, file_hash: top.root_hash })).toBe('proofs/shard-block');
    expect(codeOf({ ...top, shard: 1n << 62n })).toBe('proofs/shard-block');
    expect(codeOf({ ...top, workchain: 5 })).toBe('proofs/shard-missing');
    expect(codeOf(top, shardProof(other))).toBe('proofs/root-hash');
    expect(codeOf(top, bag(headerProof(block)))).toBe('proofs/root-count');
    expect(
      codeOf(
        top,
        bag(
          headerProof(block),
          proofOf(block.state, () => {}),
        ),
      ),
    ).toBe('proofs/incomplete');
    expect(codeOf(top, shardProof(block), top)).toBe('proofs/not-masterchain');
  });
});

describe('an answer about a shard', () => {
  const shard_descr = (() => {
    const leaf = decodeCell(ShardStateUnsplit, block.state).custom!.value.shard_hashes.get(0)!.cell;
    return bag(leaf);
  })();
  const answer = { shard_block: top, shard_proof: shardProof(block), shard_descr };
  const base = { workchain: 0, shard: whole };

  it('is proven', () => {
    expect(verifyShardInfo(block.id, base, true, answer)!.block).toEqual(top);
    expect(verifyShardInfo(block.id, { ...base, shard: 1n }, false, answer)!.block).toEqual(top);
    const none = { ...answer, shard_descr: new Uint8Array(0) };
    expect(verifyShardInfo(block.id, { workchain: 5, shard: whole }, true, none)).toBeNull();
    expect(verifyShardInfo(block.id, { ...base, shard: 1n << 62n }, true, none)).toBeNull();
  });

  it('is refused when it says something else', () => {
    const codeOf = (change: Partial<typeof answer>, wanted = base, exact = true) =>
      errorCode(() => verifyShardInfo(block.id, wanted, exact, { ...answer, ...change }));
    expect(codeOf({ shard_descr: new Uint8Array(0) })).toBe('proofs/shard-present');
    expect(codeOf({ shard_descr: bag(block.root) })).toBe('proofs/shard-description');
    expect(codeOf({ shard_block: { ...top, seqno: 1 } })).toBe('proofs/shard-block');
    expect(codeOf({}, { workchain: 5, shard: whole })).toBe('proofs/shard-missing');
    expect(codeOf({}, { ...base, shard: 1n << 62n })).toBe('proofs/shard-missing');
    expect(codeOf({}, { workchain: -1, shard: whole })).toBe('proofs/shard-question');
    expect(codeOf({}, { ...base, shard: 0n })).toBe('proofs/shard-question');
  });
});

describe('an answer with all shards', () => {
  const data = bag(encodeCell(ShardHashes, blockShardHashes(block.root, block.id)));

  it('is proven by the block', () => {
    const hashes = verifyAllShards(block.id, blockProof(block), data);
    expect([...shardDescrs(hashes)].map(blockOfShard)).toEqual([top]);
  });

  it('is refused when it says something else', () => {
    const empty = bag(encodeCell(ShardHashes, ShardHashes.of([])));
    expect(errorCode(() => verifyAllShards(block.id, blockProof(block), empty))).toBe('proofs/shard-hashes');
    expect(errorCode(() => verifyAllShards(block.id, blockProof(other), data))).toBe('proofs/root-hash');
    expect(errorCode(() => verifyAllShards(block.id, bag(headerProof(block)), data))).toBe('proofs/incomplete');
    expect(errorCode(() => verifyAllShards(top, blockProof(block), data))).toBe('proofs/not-masterchain');
  });
});

describe('a chain down to a shard block', () => {
  const links = [
    { id: top, proof: blockProof(block) },
    { id: shards[top.seqno - 1]!.id, proof: bag(headerProof(shards[top.seqno]!)) },
    { id: shards[top.seqno - 2]!.id, proof: bag(headerProof(shards[top.seqno - 1]!)) },
  ];

  it('is proven link by link', () => {
    expect(verifyShardBlockChain(block.id, links[2]!.id, links).map((header) => header.id)).toEqual([
      top,
      links[1]!.id,
    ]);
    expect(verifyShardBlockChain(block.id, block.id, [])).toEqual([]);
  });

  it('is refused at the link that breaks', () => {
    const codeOf = (chain: typeof links, to = links[2]!.id) =>
      errorCode(() => verifyShardBlockChain(block.id, to, chain));
    expect(codeOf(links.slice(0, 2))).toBe('proofs/chain-end');
    expect(codeOf([])).toBe('proofs/chain-end');
    expect(codeOf([links[0]!, { ...links[1]!, id: links[2]!.id }])).toBe('proofs/prev-block');
    expect(codeOf([links[0]!, links[2]!])).toBe('proofs/root-hash');
    expect(codeOf([{ ...links[0]!, id: links[1]!.id }])).toBe('proofs/shard-block');
    expect(codeOf([{ ...links[0]!, id: { ...top, workchain: 5 } }])).toBe('proofs/shard-missing');
    expect(codeOf(Array.from({ length: 9 }, () => links[0]!))).toBe('proofs/chain-length');
  });
});
