import { describe, expect, it } from 'vitest';
import { masterchainExtra, type stateConfig, verifyConfig } from '#formats/proofs/shard-state.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { toHex } from '#kernel/bytes.js';
import { configHandlers } from '#localnet/liteserver/masterchain-state.js';
import { errorCode } from '#test/support/error-code.js';
import { blockAt, contextOf, genesisLedger, refusal, strangeId } from '#test/support/genesis-ledger.js';

const ledger = genesisLedger();
const context = contextOf(ledger);
const block = blockAt(ledger, 8);
const id = blockIdToTl(block.id);
const { 'liteServer.getConfigAll': getAll, 'liteServer.getConfigParams': getParams } = configHandlers;

function open(answer: ReturnType<typeof getAll>) {
  return masterchainExtra(verifyConfig(block.id, answer.state_proof, answer.config_proof));
}

type Config = ReturnType<typeof stateConfig>['config'];
const numbers = (config: Config) => [...config].map(([number]) => number);
const hashOf = (config: Config, number: number) => toHex(config.get(number)!.hash(0));

describe('the configuration', () => {
  const all = open(getAll({ mode: 0, id }, context)).config.config;

  it('is proven whole', () => {
    expect(numbers(all)).toEqual(expect.arrayContaining([0, 1, 8, 12, 17, 32, 34].filter((number) => all.has(number))));
    expect(numbers(all).length).toBeGreaterThan(20);
  });

  it('is proven in parts, absent ones included; the rest is left out', () => {
    const some = open(getParams({ mode: 0, id, param_list: [34, 1, 77, -5] }, context)).config.config;
    expect(hashOf(some, 34)).toBe(hashOf(all, 34));
    expect([some.get(77), some.get(-5)]).toEqual([undefined, undefined]);
    expect(errorCode(() => numbers(some))).toBe('cells/pruned-branch');
  });

  it('shows more as the mode says', () => {
    const sizeOf = (mode: number) => getParams({ mode, id, param_list: [] }, context).config_proof.length;
    const plain = sizeOf(0);
    for (const mode of [16, 32, 256, 512]) expect(sizeOf(mode), `mode ${mode}`).toBeGreaterThan(plain);
    expect(sizeOf(1 | 2 | 4 | 8)).toBe(plain);
    // Blocks before, which the machine is told of; the answer says that the version was needed for that.
    const withBlocks = getParams({ mode: 128 | 64, id, param_list: [] }, context);
    expect(withBlocks.mode).toBe(128 | 64 | 512);
    const { prev_blocks } = open(withBlocks).info.value;
    expect([0, 3, 7].map((seqno) => prev_blocks.get(seqno)!.blk_ref.seq_no)).toEqual([0, 3, 7]);
    expect(getAll({ mode: 0x10000, id }, context).mode).toBe(0);
  });

  it('is refused for other blocks and for long lists', () => {
    const about = (of: Parameters<typeof blockIdToTl>[0], mode = 0) =>
      refusal(() => getAll({ mode, id: blockIdToTl(of) }, context));
    expect(about(blockAt(ledger, 3, 0).id)).toMatch(/^-400 configuration parameters can be loaded/);
    expect(about({ ...block.id, seqno: 0xffffffff, root_hash: new Uint8Array(32) })).toMatch(
      /^-400 reference block must/,
    );
    expect(about(ledger.zerostate)).toMatch(/^651 cannot load block .* : not in db$/);
    const list = Array.from({ length: 257 }, (_, number) => number);
    expect(refusal(() => getParams({ mode: 0, id, param_list: list }, context))).toBe('-400 too long param list');
    // There is no key block yet.
    expect(about(block.id, 0x8000)).toMatch(/^651 cannot load block \(-1,8000000000000000,0\):/);
    expect(about(strangeId(block.id), 0x8000)).toMatch(/^0 requested masterchain block .* is unknown/);
    expect(about({ ...block.id, seqno: 10 }, 0x8000)).toMatch(/^0 client knows block .* newer than/);
  });
});
