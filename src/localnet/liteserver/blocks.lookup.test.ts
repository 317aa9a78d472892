import { describe, expect, it } from 'vitest';
import { type BlockQuery, verifyLookup } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { lookupHandlers } from '#localnet/liteserver/blocks.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';
import { blockAt, contextOf, genesisLedger, refusal } from '#test/support/genesis-ledger.js';

const ledger = genesisLedger();
const context = contextOf(ledger);
const { 'liteServer.lookupBlock': lookup, 'liteServer.lookupBlockWithProof': lookupWithProof } = lookupHandlers;

const WHOLE = -(1n << 63n);
const place = (workchain: number, seqno = 0, shard = WHOLE) => ({ workchain, shard, seqno });

describe('a look-up', () => {
  it('finds the first block that reaches an lt or a time, and the one of a seqno', () => {
    for (const workchain of [-1, 0]) {
      const { id, end_lt: lt, gen_utime: utime } = blockAt(ledger, 4, workchain);
      const found = [
        lookup({ mode: 1, id: place(workchain, 4), lt: null, utime: null }, context),
        lookup({ mode: 2, id: place(workchain), lt, utime: null }, context),
        lookup({ mode: 2, id: place(workchain), lt: lt - 1n, utime: null }, context),
        lookup({ mode: 4, id: place(workchain), lt: null, utime }, context),
      ];
      for (const { id: answered } of found) expect(answered).toEqual(blockIdToTl(id));
      expect(lookup({ mode: 2, id: place(workchain), lt: lt + 1n, utime: null }, context).id.seqno).toBe(5);
    }
  });

  it('takes any prefix for a shard, and gives the header as the upper bits of the mode say', () => {
    const args = { id: place(-1, 4, 0x1234n), lt: null, utime: null };
    expect(lookup({ ...args, mode: 0x11 }, context)).toMatchObject({ mode: 1, id: { seqno: 4 } });
    expect(lookup({ ...args, mode: 0x11 }, context).header_proof.length).toBeGreaterThan(
      lookup({ ...args, mode: 1 }, context).header_proof.length,
    );
  });

  it('is refused when it is not for one thing, or there is no such block', () => {
    for (const mode of [0, 3, 5, 6, 7]) {
      const args = { mode, id: place(-1, 1), lt: 1n, utime: 1 };
      expect(refusal(() => lookup(args, context))).toBe(
        '-400 exactly one of mode.0, mode.1 and mode.2 bits must be set',
      );
    }
    const none = { lt: null, utime: null };
    const by = (workchain: number, seqno: number) =>
      refusal(() => lookup({ mode: 1, id: place(workchain, seqno), ...none }, context));
    expect(by(-1, 10)).toBe(
      '651 cannot find block (-1,8000000000000000) seqno=10: ltdb: block not found (last known masterchain block: 9)',
    );
    expect(by(-1, 0)).toBe('651 cannot find block (-1,8000000000000000) seqno=0: ltdb: block not found');
    expect(by(3, 1)).toBe('651 cannot find block (3,8000000000000000) seqno=1: seqno not in db');
  });
});

describe('a look-up with proof', () => {
  const verify = (block: LedgerBlock, known: LedgerBlock, query: BlockQuery, mode: number) => {
    const { lt, utime } = { lt: null, utime: null, ...query } as { lt: bigint | null; utime: number | null };
    const args = { mode, id: place(block.id.workchain, block.id.seqno), mc_block_id: blockIdToTl(known.id), lt, utime };
    const answer = lookupWithProof(args, context);
    const shard_links = answer.shard_links.map(({ id, proof }) => ({ id: blockIdFromTl(id), proof }));
    const [id, mc_block_id] = [blockIdFromTl(answer.id), blockIdFromTl(answer.mc_block_id)];
    return verifyLookup(known.id, query, { ...answer, id, mc_block_id, shard_links });
  };

  it('leads from a known masterchain block to the one that is looked for', () => {
    const head = blockAt(ledger, 9);
    for (const workchain of [-1, 0]) {
      const block = blockAt(ledger, 5, workchain);
      const shard = { workchain, shard: 1n << 63n };
      for (const known of [blockAt(ledger, block.mc_seqno), head]) {
        expect(verify(block, known, { ...shard, by: 'seqno', seqno: 5 }, 1).id).toEqual(block.id);
        expect(verify(block, known, { ...shard, by: 'lt', lt: block.end_lt }, 2).id).toEqual(block.id);
        expect(verify(block, known, { ...shard, by: 'utime', utime: block.gen_utime }, 4).id).toEqual(block.id);
      }
    }
  });

  it('is refused from an older masterchain block, from one that is none, and before the first block', () => {
    const args = { mode: 1, id: place(-1, 5), lt: null, utime: null };
    const from = (id: Parameters<typeof blockIdToTl>[0]) =>
      refusal(() => lookupWithProof({ ...args, mc_block_id: blockIdToTl(id) }, context));
    expect(from(blockAt(ledger, 4).id)).toBe("0 specified mc block is older than block's masterchain ref");
    expect(from(blockAt(ledger, 4, 0).id)).toBe('-400 masterchain block id must be specified');
    const first = { mode: 2, id: place(-1), mc_block_id: blockIdToTl(blockAt(ledger, 9).id), lt: 0n, utime: null };
    expect(refusal(() => lookupWithProof(first, context))).toBe('651 not in db');
  });
});
