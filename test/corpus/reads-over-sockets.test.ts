import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { type AdnlServer, listenAdnl } from '#drivers/adnl/server.js';
import { LitePool } from '#drivers/lite/pool.js';
import { Address } from '#formats/address/address.js';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerError } from '#formats/tl/lite-api.js';
import { decodeLiteQuery } from '#formats/tl/lite-query.js';
import { systemClock } from '#kernel/clock.js';
import { type Logger, silentLogger } from '#kernel/logger.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { Random } from '#test/fuzz/random.js';
import type { DirectServer } from '#test/support/direct-source.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { liesAbout } from '#test/support/lying-source.js';
import { replayServer } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const ELECTOR = Address.ofParts(-1, new Uint8Array(32).fill(0x33));
const ledger = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: null });
const honest = replayServer(ledger);
const modules = { clock: systemClock, randomBytes: (size: number) => randomBytes(size) };

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Reads through a pool of servers on real sockets. */
async function readsOver(...servers: readonly DirectServer[]) {
  const listening: AdnlServer[] = [];
  for (const answer of servers) {
    const server = await listenAdnl({ seed: randomBytes(32) }, { ...modules, onQuery: (query) => answer(query) });
    closers.push(() => server.close());
    listening.push(server);
  }
  const warnings: string[] = [];
  const logger: Logger = { info() {}, warn: (message) => void warnings.push(message) };
  const addresses = listening.map(({ host, port, publicKey }) => ({ host, port, publicKey, slices: null }));
  const pool = new LitePool(
    { servers: addresses },
    { ...modules, unixTimeMs: () => ledger.timeOf(9) * 1000, random: Math.random, logger },
  );
  pool.start();
  closers.push(() => pool.close());
  await pool.whenSettled(5_000);
  const chain = new Chain(
    { zero_state: ledger.zerostate },
    { source: pool, clock: systemClock, keyBlocks: new KeyBlockMemory(), logger: silentLogger },
  );
  return { chain, warnings };
}

describe('verified reads through a pool on real sockets', () => {
  it('agree with the chain', async () => {
    const { chain } = await readsOver(honest, honest);
    expect((await chain.head()).block).toEqual(ledger.head!.id);
    expect((await chain.waitForHead(9)).block.seqno).toBe(9);
    for (let at = 1; at <= 9; at++) {
      const { data } = await chain.blockData({ at });
      expect(parseBoc(data).roots[0]!.hash()).toEqual((await chain.blockId(at)).root_hash);
      expect((await chain.account(ELECTOR, { at })).cell).not.toBeNull();
    }
    const lts: bigint[] = [];
    for await (const { lt } of chain.walkTransactions(ELECTOR)) lts.push(lt);
    expect(lts.length).toBeGreaterThan(10);
    for (const lt of lts) expect((await chain.transaction(ELECTOR, lt)).transaction.lt).toBe(lt);
    const first = { workchain: 0, shard: 1n << 63n, by: 'lt', lt: 1n } as const;
    expect((await chain.findBlock(first)).block.seqno).toBe(1);
    await expect(chain.findBlock({ ...first, by: 'seqno', seqno: 99 })).rejects.toMatchObject({
      code: 'chain/block-not-found',
    });
    await expect(chain.waitForHead(10, { deadlineMs: 300 })).rejects.toMatchObject({ class: 'upstream' });
  });

  it('are true while one server of two lies about states, which is logged', async () => {
    const random = new Random('liar');
    const liar: DirectServer = async (query) => {
      const answer = await honest(query);
      if (decodeLiteQuery(query).call.name !== 'liteServer.getAccountState') return answer;
      return random.pick([...liesAbout(answer, random, 4)].filter(({ field }) => /^(id|proof|state)\b/.test(field)))
        .bytes;
    };
    const truth = await readsOver(honest);
    // Chance decides which server is asked: with fresh pools until the liar was.
    let { chain, warnings } = await readsOver(liar, honest);
    for (let i = 0; i < 200 && warnings.length === 0; i++) {
      const at = 1 + (i % 9);
      if (at === 1 && i > 0) ({ chain, warnings } = await readsOver(liar, honest));
      const [read, wanted] = [await chain.account(ELECTOR, { at }), await truth.chain.account(ELECTOR, { at })];
      expect(read.cell!.hash(0)).toEqual(wanted.cell!.hash(0));
      expect(read.last_transaction).toEqual(wanted.last_transaction);
    }
    expect(warnings.join('; ')).toMatch(/quarantine|lie/i);
  });

  it('of what no server has fail with who was asked', async () => {
    const missing: DirectServer = (query) =>
      decodeLiteQuery(query).call.name === 'liteServer.getBlock'
        ? Promise.resolve(encodeBoxed(LiteServerError, { code: 651, message: 'block not found: not in db' }))
        : honest(query);
    const { chain } = await readsOver(missing, missing);
    await expect(chain.blockData({ at: 5 })).rejects.toMatchObject({
      code: 'lite/not-available',
      message: expect.stringMatching(/127\.0\.0\.1:\d+.*127\.0\.0\.1:\d+/),
    });
  });
});
