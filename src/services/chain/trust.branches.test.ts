import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sameBlock } from '#formats/proofs/block-id.js';
import { silentLogger } from '#kernel/logger.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { type BranchedChain, branchedChain } from '#test/support/branched-chain.js';
import { type DirectServer, DirectSource } from '#test/support/direct-source.js';
import { FakeClock } from '#test/support/fake-clock.js';

let net: BranchedChain;

beforeAll(async () => {
  net = await branchedChain(3);
  await net.first.growTo(8);
  await net.second.growTo(9);
});

afterAll(() => net.close());

/** The newest masterchain block that a server shows is `to`, although it has more. */
interface Shown {
  server: DirectServer;
}

function reads(...servers: readonly DirectServer[]) {
  const shown: Shown[] = servers.map((server) => ({ server }));
  const source = new DirectSource(...shown.map((each) => (query: Uint8Array) => each.server(query)));
  const modules = { source, clock: new FakeClock(), keyBlocks: new KeyBlockMemory(), logger: silentLogger };
  return { shown, source, chain: new Chain({ zero_state: net.zerostate, headMaxAgeMs: 0 }, modules) };
}

describe('two branches with the same validators', () => {
  it('are the same up to the block where they part', () => {
    expect(sameBlock(net.first.id(3), net.second.id(3))).toBe(true);
    expect(sameBlock(net.first.id(4), net.second.id(4))).toBe(false);
  });

  it('are not exchanged: a head that does not descend from the proven one is refused', async () => {
    const { chain, shown, source } = reads(net.first.server);
    expect((await chain.head()).block).toEqual(net.first.id(8));
    shown[0]!.server = net.second.server;
    source.headSeqno = 9;
    await expect(chain.head()).rejects.toMatchObject({ code: 'chain/other-branch' });
    await net.second.growTo(12);
    source.headSeqno = 12;
    await expect(chain.head()).rejects.toMatchObject({ code: 'chain/other-branch' });
    expect(source.faults.map(({ code }) => code)).toContain('chain/other-branch');
    shown[0]!.server = net.first.server;
    await net.first.growTo(11);
    expect((await chain.head()).block).toEqual(net.first.id(11));
    // What the other branch showed is not trusted anywhere.
    expect(await chain.blockId(9)).toEqual(net.first.id(9));
  });

  it('leave the other servers in use when one is on the other branch', async () => {
    const { chain, shown, source } = reads(net.first.server, net.first.server);
    const { block } = await chain.head();
    shown[0]!.server = net.second.server;
    await net.first.growTo(block.seqno + 2);
    await net.second.growTo(block.seqno + 2);
    source.headSeqno = block.seqno + 2;
    // The first server proves its head; that it descends from the known one, nobody can prove.
    const heads = [];
    for (let attempt = 0; attempt < 2; attempt++) heads.push(await chain.head().catch(({ code }) => code));
    expect(source.faults.map(({ server }) => server)).not.toContain(1);
    shown.shift();
    expect(
      heads.every((head) => head === 'chain/other-branch' || sameBlock(head.block, net.first.id(block.seqno + 2))),
    ).toBe(true);
  });
});
