import { describe, expect, it } from 'vitest';
import { verifyBlockCreateStats } from '#formats/proofs/shard-state.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { validatorStatsHandlers } from '#localnet/liteserver/masterchain-state.js';
import { blockAt, contextOf, genesisLedger, refusal } from '#test/support/genesis-ledger.js';

const context = contextOf(genesisLedger());
const getStats = validatorStatsHandlers['liteServer.getValidatorStats'];
const block = blockAt(context.ledger, 9);

function ask(limit: number, start_after: Uint8Array | null = null, mode = start_after === null ? 0 : 1) {
  const answer = getStats({ mode, id: blockIdToTl(block.id), limit, start_after, modified_after: null }, context);
  const shown = verifyBlockCreateStats(block.id, answer.state_proof, answer.data_proof)!;
  return { ...answer, keys: [...shown.counters.entries({ pruned: 'skip' })].map(([key]) => key) };
}

describe('how many blocks validators made', () => {
  const all = ask(1000);

  it('is proven of all, or of some from a key on', () => {
    expect(all.complete).toBe(true);
    expect(all.count).toBe(all.keys.length);
    expect(all.count).toBeGreaterThan(1);
    expect(ask(all.count)).toMatchObject({ count: all.count, complete: false });
    const first = ask(1);
    expect(first).toMatchObject({ count: 1, complete: false });
    const rest = ask(1000, all.keys[0]!);
    expect(rest).toMatchObject({ count: all.count - 1, complete: true });
    // With the second bit the key itself is taken, too.
    expect(ask(1000, all.keys[0]!, 3).count).toBe(all.count);
  });

  it('is not reported for nothing', () => {
    expect(refusal(() => ask(0))).toBe('-400 requested entry count limit must be positive');
    expect(refusal(() => ask(5, null, 8))).toBe('-400 unknown flags set in mode');
  });
});
