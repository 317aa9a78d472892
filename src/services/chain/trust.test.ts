import { beforeAll, describe, expect, it } from 'vitest';
import type { BlockId } from '#formats/proofs/block-id.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { decodeBoxed, encodeBoxed } from '#formats/tl/constructor.js';
import {
  LiteServerError,
  LiteServerGetBlockHeader,
  LiteServerGetBlockProof,
  LiteServerPartialBlockProof,
  liteServerFunctions,
  type TonNodeBlockIdExt,
} from '#formats/tl/lite-api.js';
import { decodeLiteQuery, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { silentLogger } from '#kernel/logger.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { Chain, type ChainOptions } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { type DirectServer, DirectSource } from '#test/support/direct-source.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { replayServer } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

/** What a server was asked to prove: from which block on. */
type Asked = { readonly known: number; readonly target: number | null };

function noting(honest: DirectServer, asked: Asked[]): DirectServer {
  return async (query) => {
    const { call } = decodeLiteQuery(query);
    if (call.name === 'liteServer.getBlockProof') {
      const { known_block, target_block } = call.value;
      asked.push({ known: known_block.seqno, target: target_block?.seqno ?? null });
    }
    return honest(query);
  };
}

/** Gives one link of a proof at a time. */
function linkByLink(honest: DirectServer): DirectServer {
  return async (query) => {
    const bytes = await honest(query);
    if (decodeLiteQuery(query).call.name !== 'liteServer.getBlockProof') return bytes;
    const { value } = decodeBoxed(bytes, LiteServerPartialBlockProof);
    const [first, ...more] = value.steps;
    if (first === undefined || more.length === 0) return bytes;
    return encodeBoxed(LiteServerPartialBlockProof, { ...value, complete: false, to: first.to, steps: [first] });
  };
}

function chainOf(server: DirectServer, options: ChainOptions, keyBlocks = new KeyBlockMemory()) {
  const source = new DirectSource(server);
  const clock = new FakeClock();
  const chain = new Chain(options, { source, clock, keyBlocks, logger: silentLogger });
  return { chain, source, clock };
}

describe('the newest block', () => {
  const ledger = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: 4 });
  const all = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: null });
  const zero_state = ledger.zerostate;
  const masterchain = (seqno: number): BlockId =>
    all.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno })!.id;

  it('is known for a while, then asked for again, and at once when a server claims a newer one', async () => {
    const asked: Asked[] = [];
    const { chain, source, clock } = chainOf(noting(replayServer(ledger), asked), { zero_state, headMaxAgeMs: 500 });
    expect((await chain.head()).block).toEqual(masterchain(4));
    ledger.advanceTo(5);
    clock.advance(500);
    expect((await chain.head()).block.seqno).toBe(4);
    clock.advance(1);
    expect((await chain.head()).block).toEqual(masterchain(5));
    ledger.advanceTo(6);
    source.headSeqno = 6;
    expect((await chain.head()).block).toEqual(masterchain(6));
    expect(asked).toHaveLength(3);
  });

  it('is the known one for a client that servers let wait, until that is old', async () => {
    const growing = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: 4 });
    const honest = replayServer(growing);
    let answer: Promise<void> = Promise.resolve();
    const { chain, source, clock } = chainOf((query) => answer.then(() => honest(query)), { zero_state });
    const client = { id: 'somebody', hasKey: false };
    await chain.head({ client });
    growing.advanceTo(5);
    source.headSeqno = 5;
    let goOn = (): void => {};
    answer = new Promise((resolve) => {
      goOn = resolve;
    });
    const waiting = chain.head({ client });
    const own = chain.head();
    clock.advance(30);
    expect((await waiting).block.seqno).toBe(4);
    // Nobody waits any more, until the block is too old.
    expect((await chain.head({ client })).block.seqno).toBe(4);
    clock.advance(4_000);
    const late = chain.head({ client });
    goOn();
    expect([(await own).block, (await late).block]).toEqual([masterchain(5), masterchain(5)]);
    growing.advanceTo(6);
    source.headSeqno = 6;
    expect((await chain.head({ client })).block).toEqual(masterchain(6));
  });

  it('is never older than one that was proven before', async () => {
    const [behind, ahead] = [5, 7].map((to) =>
      replayServer(keptReplay(vectorPath('mainnet-genesis'), { to, head: null })),
    );
    let server = ahead!;
    const { chain, source } = chainOf((query) => server(query), { zero_state, headMaxAgeMs: 0 });
    expect((await chain.head()).block.seqno).toBe(7);
    server = behind!;
    source.headSeqno = 8;
    expect((await chain.head()).block.seqno).toBe(7);
  });

  it('is asked of another server when one leaves the state hash out of its header', async () => {
    const honest = replayServer(ledger);
    const source = new DirectSource(async (query) => {
      const { call } = decodeLiteQuery(query);
      if (call.name !== LiteServerGetBlockHeader.name) return honest(query);
      return honest(encodeLiteQuery(LiteServerGetBlockHeader, { ...(call.value as object), mode: 0 } as never, null));
    }, honest);
    const modules = { source, clock: new FakeClock(), keyBlocks: new KeyBlockMemory(), logger: silentLogger };
    const chain = new Chain({ zero_state }, modules);
    expect((await chain.head()).block.seqno).toBeGreaterThan(0);
    expect(source.faults).toEqual([expect.objectContaining({ server: 0, code: 'proofs/incomplete' })]);
  });

  it('is waited for without asking again and again', async () => {
    const growing = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: 5 });
    const asked: Asked[] = [];
    const { chain } = chainOf(noting(replayServer(growing), asked), { zero_state });
    const waited = chain.waitForHead(7);
    for (const seqno of [6, 7]) {
      await new Promise((resolve) => setImmediate(resolve));
      growing.advanceTo(seqno);
    }
    expect((await waited).block).toEqual(masterchain(7));
    expect(asked).toHaveLength(1);
  });

  it('is not asked for all the time where a server does not wait', async () => {
    const asked: Asked[] = [];
    const honest = noting(replayServer(ledger), asked);
    const impatient: DirectServer = (query) => {
      const { call } = decodeLiteQuery(query);
      const fn = liteServerFunctions.find(({ name }) => name === call.name)!;
      return honest(encodeLiteQuery(fn, call.value as never));
    };
    const { chain, clock } = chainOf(impatient, { zero_state });
    const waited = chain.waitForHead(1_000, { deadlineMs: 1_000 });
    const outcome = expect(waited).rejects.toMatchObject({ code: 'chain/deadline' });
    for (let i = 0; i < 200; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (i % 20 === 19) clock.advance(100);
    }
    await outcome;
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.length).toBeLessThan(15);
  });

  it('is not waited for beyond the deadline', async () => {
    const timeout = encodeBoxed(LiteServerError, { code: 652, message: 'timeout' });
    const failing = chainOf(() => Promise.resolve(timeout), { zero_state });
    const waited = failing.chain.waitForHead(7, { deadlineMs: 1000 });
    const outcome = expect(waited).rejects.toMatchObject({ code: 'chain/deadline', class: 'upstream' });
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      failing.clock.advance(100);
    }
    await outcome;
    expect(failing.clock.pending).toBe(0);
  });

  it('is proven from init_block where there is one', async () => {
    const asked: Asked[] = [];
    const init_block = masterchain(3);
    const { chain } = chainOf(noting(replayServer(ledger), asked), { zero_state, init_block });
    await chain.head();
    expect(asked).toEqual([{ known: 3, target: null }]);
    expect((await chain.blockId(2)).seqno).toBe(2);
    expect((await chain.blockSignatures({ at: 2 })).signatures.signatures.length).toBeGreaterThan(0);
  });

  it('is not believed if init_block is no block of the chain', async () => {
    const init_block = { ...masterchain(3), root_hash: new Uint8Array(32) };
    const { chain } = chainOf(replayServer(ledger), { zero_state, init_block });
    await expect(chain.head()).rejects.toMatchObject({ code: expect.stringMatching(/^lite\//) });
  });
});

const folder = vectorPath('collection/recorded-net/chain');

describe('key blocks of the recorded network', () => {
  let ledger: ReplayLedger;
  let keyBlocks: readonly number[];
  const idOf = (seqno: number): BlockId => ledger.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno })!.id;

  beforeAll(() => {
    ledger = keptReplay(folder, { to: null, head: null });
    keyBlocks = [];
    for (let at = ledger.keyBlockFrom(1); at !== null; at = ledger.keyBlockFrom(at.seqno + 1)) {
      keyBlocks = [...keyBlocks, at.seqno];
    }
  });

  it('are kept, and the next run begins at the newest', async () => {
    const store = new KeyBlockMemory();
    const { zerostate: zero_state } = ledger;
    const asked: Asked[] = [];
    const server = noting(linkByLink(replayServer(ledger)), asked);
    const first = chainOf(server, { zero_state }, store);
    expect((await first.chain.head()).block.seqno).toBe(ledger.lastSeqno);
    await first.chain.close();
    expect(keyBlocks.length).toBeGreaterThan(2);
    expect((await store.load()).map(({ seqno }) => seqno)).toEqual(keyBlocks);
    expect(asked.map(({ known }) => known)).toEqual([0, ...keyBlocks]);
    asked.length = 0;
    const second = chainOf(server, { zero_state }, store);
    await second.chain.start();
    expect((await second.chain.head()).block.seqno).toBe(ledger.lastSeqno);
    expect(asked).toEqual([{ known: keyBlocks.at(-1), target: null }]);
  });

  it('are kept on where the configured block is one of them, or newer, and forgotten where it is none', async () => {
    const [first, second, third, ...rest] = keyBlocks as [number, number, number, ...number[]];
    const { zerostate: zero_state } = ledger;
    const run = async (store: KeyBlockMemory, init: number) => {
      const asked: Asked[] = [];
      const options = { zero_state, init_block: idOf(init) };
      const { chain } = chainOf(noting(replayServer(ledger), asked), options, store);
      expect((await chain.head()).block.seqno).toBe(ledger.lastSeqno);
      await chain.close();
      return { begun: asked[0]!.known, stored: (await store.load()).map(({ seqno }) => seqno) };
    };
    const last = keyBlocks.at(-1)!;
    const storeOf = async (...blocks: BlockId[]) => {
      const store = new KeyBlockMemory();
      await store.append(blocks);
      return store;
    };
    const all = keyBlocks.map(idOf);
    expect(await run(await storeOf(...all), second)).toEqual({ begun: last, stored: keyBlocks });
    // The configuration has moved on since the last run.
    const older = await storeOf(idOf(first));
    expect(await run(older, third)).toEqual({ begun: third, stored: [first, third, ...rest] });
    expect(await run(older, third)).toEqual({ begun: last, stored: [first, third, ...rest] });
    // The last runs followed a chain that was given up: it had another block in this place, or none.
    const abandoned = (seqno: number): BlockId => ({ ...idOf(seqno), root_hash: new Uint8Array(32).fill(seqno) });
    const healed = { begun: second, stored: keyBlocks };
    expect(await run(await storeOf(idOf(first), abandoned(second), abandoned(third)), second)).toEqual(healed);
    expect(await run(await storeOf(idOf(first), abandoned(third)), second)).toEqual(healed);
  });

  it('prove signatures with one link from the key block before', async () => {
    const asked: Asked[] = [];
    const { chain } = chainOf(noting(replayServer(ledger), asked), { zero_state: ledger.zerostate });
    await chain.head();
    asked.length = 0;
    const [, second] = keyBlocks;
    for (const [at, known] of [
      [second! + 1, second!],
      [second!, keyBlocks[0]!],
    ] as const) {
      const read = await chain.blockSignatures({ at, proof: true });
      expect(read.signatures.kind).toBe('simplex');
      expect(read.proof!.flatMap(({ steps }) => steps)).toHaveLength(1);
      expect(asked.at(-1)).toEqual({ known, target: at });
    }
  });

  it('have no signatures in a proof that goes beyond a block and back: another server is asked', async () => {
    const honest = replayServer(ledger);
    const [, second] = keyBlocks;
    const at = second! + 1;
    const proof = async (known_block: TonNodeBlockIdExt, target_block: TonNodeBlockIdExt) => {
      const query = { mode: 1, known_block, target_block };
      return decodeBoxed(
        await honest(encodeLiteQuery(LiteServerGetBlockProof, query, null)),
        LiteServerPartialBlockProof,
      ).value;
    };
    const source = new DirectSource(async (query) => {
      const { call } = decodeLiteQuery(query);
      if (call.name !== LiteServerGetBlockProof.name) return honest(query);
      const { known_block, target_block } = call.value as LiteServerGetBlockProof;
      if (target_block?.seqno !== at) return honest(query);
      const beyond = blockIdToTl(idOf(keyBlocks[2]!));
      const [there, back] = [await proof(known_block, beyond), await proof(beyond, target_block)];
      const steps = [...there.steps, ...back.steps];
      return encodeBoxed(LiteServerPartialBlockProof, { ...back, from: known_block, complete: true, steps });
    }, honest);
    const modules = { source, clock: new FakeClock(), keyBlocks: new KeyBlockMemory(), logger: silentLogger };
    const chain = new Chain({ zero_state: ledger.zerostate }, modules);
    await chain.head();
    expect((await chain.blockSignatures({ at })).signatures.signatures.length).toBeGreaterThan(0);
    expect(source.faults).toEqual([expect.objectContaining({ server: 0, code: 'chain/incomplete-answer' })]);
  });
});
