import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ForkSpec } from '#app/config/settings.js';
import type { Environment } from '#app/service/environment.js';
import { type OpenFork, openFork } from '#app/service/fork.js';
import { Address } from '#formats/address/address.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { verifyAccountTransactions } from '#formats/proofs/transactions.js';
import { decodeOne } from '#formats/tl/constructor.js';
import { LiteServerTransactionList } from '#formats/tl/lite-api.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { systemClock } from '#kernel/clock.js';
import type { LogFields } from '#kernel/logger.js';
import type { ChainOrigin, ForkOrigin } from '#localnet/ledger/genesis.js';
import { globalConfig } from '#localnet/liteserver/server.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { vectorPath } from '#test/support/vector-files.js';

const recorded = vectorPath('recorded-chain');
const ledger = openReplay(recorded, { to: null, head: null });
const root = mkdtempSync(join(tmpdir(), 'tern-fork-'));
const warnings: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
const modules: Environment = {
  clock: systemClock,
  unixTimeMs: Date.now,
  random: Math.random,
  randomBytes: (size) => randomBytes(size),
  logger: { info() {}, warn: (message, fields) => void warnings.push({ message, fields }) },
};

function open(given: ForkSpec | null, chain: ChainOrigin | null): Promise<OpenFork | null> {
  return openFork({ given, folder: 'data/localnet', chain, dataFolder: root }, modules);
}

interface Found {
  readonly address: Address;
  readonly entry: ShardAccount;
}

/** All accounts after a masterchain block, as the ledger has them. */
function accountsAt(seqno: number, of = ledger): readonly Found[] {
  const mc = of.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno })!;
  const { shard_hashes } = decodeCell(ShardStateUnsplit, of.state(mc)).custom!.value;
  const tops = [...shardDescrs(shard_hashes)].map((entry) => of.block(blockOfShard(entry))!);
  return [mc, ...tops].flatMap((block) =>
    [...decodeCell(ShardStateUnsplit, of.state(block)).accounts.value].map(([hash, entry]) => ({
      address: Address.ofParts(block.id.workchain, hash),
      entry,
    })),
  );
}

/** The zerostate of no network. */
const other: BlockId = {
  ...MASTERCHAIN_SHARD,
  seqno: 0,
  root_hash: new Uint8Array(32).fill(1),
  file_hash: new Uint8Array(32).fill(2),
};

/** A file of a configuration of it. */
function otherNetwork(): string {
  const file = join(root, 'other.config.json');
  writeFileSync(file, globalConfig({ host: '127.0.0.1', port: 1, publicKey: new Uint8Array(32).fill(4) }, other));
  return file;
}

const NOBODY = Address.ofParts(0, new Uint8Array(32).fill(0xab));

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('a fork that begins', () => {
  it('gives up when no liteserver has answered in 20 s, and names one of them', async () => {
    const clock = new FakeClock();
    const options = {
      given: { source: otherNetwork(), seqno: null },
      folder: 'data/localnet',
      chain: null,
      dataFolder: root,
    };
    const failure = openFork(options, { ...modules, clock }).then(
      () => 'it began',
      (error: unknown) => error,
    );
    let isSettled = false;
    void failure.then(() => {
      isSettled = true;
    });
    // The connections are real ones, so the clock waits for them.
    while (!isSettled) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      clock.advance(100);
    }
    expect(await failure).toMatchObject({
      code: 'fork/no-start',
      message: expect.stringContaining('none of its 1 liteservers answered in 20 s: 127.0.0.1:1: '),
    });
  });

  let fork: OpenFork;
  beforeAll(async () => {
    fork = (await open({ source: recorded, seqno: 7 }, null))!;
  });
  afterAll(() => fork.close());

  it('takes block, time, logical time and configuration of the other network', () => {
    const mc = ledger.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno: 7 })!;
    const state = decodeCell(ShardStateUnsplit, ledger.state(mc));
    expect(fork.start!.block).toEqual(mc.id);
    expect(fork.start!.gen_utime).toBe(mc.gen_utime);
    expect(fork.start!.end_lt).toBe(mc.end_lt);
    expect(fork.start!.config.hash()).toEqual(state.custom!.value.config.config.root!.hash());
    expect(fork.start!.global_id).toBe(state.global_id);
    expect(fork.origin).toEqual({ source: recorded, zero_state: ledger.zerostate, block: mc.id });
  });

  it('finds every account as it is there after that block, no later', async () => {
    const accounts = accountsAt(7);
    expect(accounts.length).toBeGreaterThan(3);
    for (const { address, entry } of accounts) {
      const found = decodeCell(ShardAccount, (await fork.forkSource.account(address))!);
      expect(found.account.cell.hash(), address.toRaw()).toEqual(entry.account.cell.hash());
      expect(found.last_trans_lt).toBe(entry.last_trans_lt);
      expect(found.last_trans_hash).toEqual(entry.last_trans_hash);
      expect(found.last_trans_lt).toBeLessThan(fork.start!.end_lt);
    }
    const later = accountsAt(10).filter(({ entry }) => entry.last_trans_lt > fork.start!.end_lt);
    expect(later.length).toBeGreaterThan(0);
  });

  it('finds nothing where there is nothing', async () => {
    expect(await fork.forkSource.account(NOBODY)).toBeNull();
    expect(await fork.forkSource.account(Address.ofParts(7, NOBODY.hash))).toBeNull();
    expect(await fork.forkSource.library(new Uint8Array(32).fill(1))).toBeNull();
  });

  it('finds what an account did before', async () => {
    const { address, entry } = accountsAt(7).find(({ entry: each }) => each.last_trans_lt > 0n)!;
    const { last_trans_lt: lt, last_trans_hash: hash } = entry;
    const bytes = await fork.forkSource.transactions(address, { lt, hash }, 3);
    const { transactions } = decodeOne(LiteServerTransactionList, bytes);
    expect(verifyAccountTransactions(address, { lt, hash }, transactions).transactions[0]).toMatchObject({ lt });
    const wrong = fork.forkSource.transactions(address, { lt, hash: new Uint8Array(32).fill(1) }, 3);
    await expect(wrong).rejects.toMatchObject({ code: 'fork/unreachable' });
  });

  it('is of the newest block when none is named', async () => {
    const other = (await open({ source: recorded, seqno: null }, null))!;
    expect(other.start!.block.seqno).toBe(10);
    await other.close();
  });

  it.each([
    [11, 'fork/bad-block'],
    [0, 'fork/bad-block'],
  ])('does not begin at block %i', async (seqno, code) => {
    await expect(open({ source: recorded, seqno }, null)).rejects.toMatchObject({ code });
  });

  it('does not begin from what is no network', async () => {
    const nothing = open({ source: join(root, 'nothing'), seqno: null }, null);
    await expect(nothing).rejects.toMatchObject({ code: 'config/network-list' });
    const empty = open({ source: mkdtempSync(join(root, 'empty-')), seqno: null }, null);
    await expect(empty).rejects.toMatchObject({ code: expect.stringMatching(/^replay\//) });
  });

  it('is none when nothing is named', async () => {
    expect(await open(null, null)).toBeNull();
  });
});

describe('a fork of a network with shards', () => {
  it('finds accounts of all of them', async () => {
    const folderOfChain = fileURLToPath(new URL('../../../vectors/dev-chain', import.meta.url));
    const fork = (await open({ source: folderOfChain, seqno: 300 }, null))!;
    const big = openReplay(folderOfChain, { to: 300, head: null });
    const found = accountsAt(300, big).filter(({ address }) => address.workchain === 0);
    expect(found.length).toBeGreaterThan(100);
    for (const { address, entry } of found.filter((_, i) => i % 20 === 0)) {
      const pulled = decodeCell(ShardAccount, (await fork.forkSource.account(address))!);
      expect(pulled.account.cell.hash(), address.toRaw()).toEqual(entry.account.cell.hash());
      expect(pulled.last_trans_hash).toEqual(entry.last_trans_hash);
    }
    await fork.close();
  });
});

describe('a fork that goes on', () => {
  const copy = join(root, 'copy');
  let origin: ForkOrigin;
  const chain = (): ChainOrigin => ({ fork: origin });

  beforeAll(async () => {
    cpSync(recorded, copy, { recursive: true });
    const startedAt = (await open({ source: copy, seqno: 7 }, null))!;
    ({ origin } = startedAt);
    await startedAt.close();
  });

  it.each<[string, ForkSpec | null]>([
    ['nothing is named', null],
    ['the same is named', { source: copy, seqno: 7 }],
    ['the network is named, but no block', { source: copy, seqno: null }],
    ['the network is named by another way to it', { source: recorded, seqno: 7 }],
  ])('goes on from the same block when %s', async (_, given) => {
    const fork = (await open(given, chain()))!;
    expect(fork.start).toBeNull();
    expect(fork.origin).toMatchObject({ source: copy, block: { seqno: 7 } });
    const [{ address, entry }] = accountsAt(7) as [Found];
    const found = decodeCell(ShardAccount, (await fork.forkSource.account(address))!);
    expect(found.account.cell.hash()).toEqual(entry.account.cell.hash());
    await fork.close();
  });

  it.each<[string, ForkSpec]>([
    ['another block', { source: copy, seqno: 8 }],
    ['different network', { source: otherNetwork(), seqno: null }],
  ])('is not taken for one of %s', async (_, given) => {
    await expect(open(given, chain())).rejects.toMatchObject({
      code: 'fork/other-origin',
      message: expect.stringContaining(`is a fork of ${copy}, block 7`),
      remedy: expect.stringContaining('--reset'),
    });
  });

  it('goes on without the other network: only what was not brought here before fails', async () => {
    warnings.length = 0;
    const away = join(root, 'away');
    renameSync(copy, away);
    const fork = (await open(null, chain()))!;
    const asked = fork.forkSource.account(NOBODY);
    await expect(asked).rejects.toMatchObject({
      code: 'fork/unreachable',
      class: 'upstream',
      message: expect.stringContaining('0:abab'),
    });
    await expect(fork.forkSource.library(NOBODY.hash)).rejects.toMatchObject({ code: 'fork/unreachable' });
    expect(warnings).toEqual([
      { message: expect.stringContaining('is unreachable'), fields: expect.objectContaining({ source: copy }) },
    ]);
    // Once it is there again, it is asked again.
    renameSync(away, copy);
    expect(await fork.forkSource.account(NOBODY)).toBeNull();
    await fork.close();
  });

  it('does not read another network that has come in its place', async () => {
    const fork = (await open(null, { fork: { ...origin, zero_state: other } }))!;
    await expect(fork.forkSource.account(NOBODY)).rejects.toMatchObject({
      code: 'fork/unreachable',
      message: expect.stringContaining('different network'),
    });
    await fork.close();
  });

  it('is not taken up by a chain that stands alone', async () => {
    const alone = { fork: null };
    expect(await open(null, alone)).toBeNull();
    await expect(open({ source: copy, seqno: null }, alone)).rejects.toMatchObject({
      code: 'fork/other-origin',
      message: expect.stringContaining('stands alone'),
    });
  });
});
