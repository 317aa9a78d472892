import { describe, expect, it } from 'vitest';
import { verifyAllShards, verifyShardBlockChain, verifyShardInfo } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl, signedShard } from '#formats/tl/block-id.js';
import { shardHandlers } from '#localnet/liteserver/shards.js';
import { blockAt, contextOf, genesisLedger, refusal, strangeId } from '#test/support/genesis-ledger.js';

const ledger = genesisLedger();
const context = contextOf(ledger);
const WHOLE = 1n << 63n;
const masterchain = blockAt(ledger, 6);

describe('the shards of a masterchain block', () => {
  it('are proven one by one', () => {
    const info = (workchain: number, shard: bigint, exact: boolean) => {
      const args = { id: blockIdToTl(masterchain.id), workchain, shard: signedShard(shard), exact };
      const { shardblk, ...rest } = shardHandlers['liteServer.getShardInfo'](args, context);
      const answer = { ...rest, shard_block: blockIdFromTl(shardblk) };
      return verifyShardInfo(masterchain.id, { workchain, shard }, exact, answer);
    };
    const whole = info(0, WHOLE, true)!;
    expect(ledger.block(whole.block)!.mc_seqno).toBeLessThanOrEqual(6);
    expect(info(0, WHOLE >> 1n, true)).toBeNull();
    expect(info(0, WHOLE >> 1n, false)).toEqual(whole);
    expect(info(0, 1n, false)).toEqual(whole);
    expect(info(2, WHOLE, false)).toBeNull();
  });

  it('are proven all together', () => {
    const { proof, data } = shardHandlers['liteServer.getAllShardsInfo']({ id: blockIdToTl(masterchain.id) }, context);
    expect(verifyAllShards(masterchain.id, proof, data).count()).toBe(1);
  });

  it('are none of a shard block, and not asked of no workchain', () => {
    const shard = blockIdToTl(blockAt(ledger, 6, 0).id);
    const problem = '-400 reference block must belong to the masterchain';
    expect(refusal(() => shardHandlers['liteServer.getAllShardsInfo']({ id: shard }, context))).toBe(problem);
    const args = { id: blockIdToTl(masterchain.id), workchain: -(2 ** 31), shard: 0n, exact: true };
    expect(refusal(() => shardHandlers['liteServer.getShardInfo'](args, context))).toBe(
      '-400 requested shard is invalid',
    );
  });
});

describe('a shard block', () => {
  const getProof = shardHandlers['liteServer.getShardBlockProof'];
  const prove = (id: Parameters<typeof blockIdToTl>[0]) => {
    const { masterchain_id, links } = getProof({ id: blockIdToTl(id) }, context);
    const from = blockIdFromTl(masterchain_id);
    const shardLinks = links.map((link) => ({ id: blockIdFromTl(link.id), proof: link.proof }));
    verifyShardBlockChain(from, id, shardLinks);
    return from;
  };

  it('is proven from the masterchain block that commits it, as is a zerostate', () => {
    for (const seqno of [1, 5, 9]) {
      const block = blockAt(ledger, seqno, 0);
      expect(prove(block.id)).toEqual(blockAt(ledger, block.mc_seqno).id);
    }
    const zerostate = ledger.previous(blockAt(ledger, 1, 0))[0]!;
    expect(prove(zerostate)).toEqual(blockAt(ledger, 1).id);
  });

  it('needs no proof in the masterchain, and has none when it is unknown', () => {
    expect(getProof({ id: blockIdToTl(masterchain.id) }, context).links).toEqual([]);
    const unknown = blockIdToTl(strangeId(blockAt(ledger, 5, 0).id));
    expect(refusal(() => getProof({ id: unknown }, context))).toBe('651 block handle not in db');
    expect(refusal(() => getProof({ id: { ...unknown, shard: 0n } }, context))).toBe('-400 invalid block id');
    const zeros = { ...unknown, root_hash: new Uint8Array(32), file_hash: new Uint8Array(32) };
    expect(refusal(() => getProof({ id: zeros }, context))).toBe('-400 invalid block id');
  });
});
