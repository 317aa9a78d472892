import { beforeAll, describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { ChainFork, readForkStart } from '#localnet/fork/chain-fork.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { Random } from '#test/fuzz/random.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { liesAbout, lyingServer, recordingServer } from '#test/support/lying-source.js';
import { chainOver, replayServer } from '#test/support/replayed-chain.js';
import { vectorPath } from '#test/support/vector-files.js';

const SOURCE = 'recorded';
const ledger = keptReplay(vectorPath('recorded-chain'), { to: null, head: null });
const honest = replayServer(ledger);
const mc = ledger.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno: 8 })!;
const state = decodeCell(ShardStateUnsplit, ledger.state(mc));
const [[elector]] = [...state.accounts.value].filter(([, { last_trans_lt }]) => last_trans_lt > 0n) as [
  [Uint8Array, ShardAccount],
];
const libraries = [...state.totals.value.libraries].map(([hash, { lib }]) => ({ hash, lib }));
const account = Address.ofParts(-1, elector);
const nobody = Address.ofParts(-1, new Uint8Array(32).fill(0xcd));

const forkOver = (chain: ChainReads): ForkSource => new ChainFork({ block: mc.id, source: SOURCE }, chain);

describe('the state of a forked network', () => {
  const fork = forkOver(chainOver(ledger.zerostate, [honest]).chain);

  it('is that after the block', async () => {
    const found = decodeCell(ShardAccount, (await fork.account(account))!);
    const entry = state.accounts.value.get(elector)!;
    expect(found.account.cell.hash()).toEqual(entry.account.cell.hash());
    expect(found.account.cell.level).toBe(0);
    expect(found.last_trans_lt).toBe(entry.last_trans_lt);
    expect(await fork.account(nobody)).toBeNull();
  });

  it('has the libraries that the masterchain publishes', async () => {
    expect(libraries.length).toBeGreaterThan(0);
    for (const { hash, lib } of libraries) expect((await fork.library(hash))!.hash()).toEqual(lib.hash());
    expect(await fork.library(new Uint8Array(32))).toBeNull();
  });

  it('is not reported where it cannot be read', async () => {
    const { chain } = chainOver(ledger.zerostate, []);
    const gone = { code: 'fork/unreachable', message: expect.stringContaining(`${SOURCE}, block 8`) };
    await expect(forkOver(chain).account(account)).rejects.toMatchObject(gone);
    await expect(forkOver(chain).library(libraries[0]!.hash)).rejects.toMatchObject(gone);
    await expect(readForkStart(chain, null, SOURCE)).rejects.toMatchObject({ code: 'fork/no-start' });
  });
});

describe('a liar', () => {
  const asked: readonly (readonly [string, (fork: ForkSource) => Promise<Cell | null>])[] = [
    ['an account', (fork) => fork.account(account)],
    ['an account that there is not', (fork) => fork.account(nobody)],
    ['a library', (fork) => fork.library(libraries[0]!.hash)],
    ['a library that there is not', (fork) => fork.library(new Uint8Array(32).fill(3))],
  ];
  const truth = new Map<string, { readonly value: string | null; readonly answers: readonly Uint8Array[] }>();
  const hashOf = (cell: Cell | null) => (cell === null ? null : toHex(cell.hash()));

  beforeAll(async () => {
    for (const [name, ask] of asked) {
      const answers: Uint8Array[] = [];
      const { chain } = chainOver(ledger.zerostate, [recordingServer(honest, answers)]);
      truth.set(name, { value: hashOf(await ask(forkOver(chain))), answers });
    }
  });

  it.each(asked)(
    'does not have his way about %s',
    async (name, ask) => {
      const { value, answers } = truth.get(name)!;
      let lies = 0;
      let refused = 0;
      for (const [question, answer] of answers.entries()) {
        const all = [...liesAbout(answer, new Random(`${name} ${question}`), 8)];
        for (const { text, bytes } of all.filter((_, i) => i % 4 === question % 4)) {
          lies++;
          const { chain } = chainOver(ledger.zerostate, [lyingServer(honest, question, bytes)]);
          try {
            expect(hashOf(await ask(forkOver(chain))), `question ${question}: ${text}`).toBe(value);
          } catch (error) {
            if (!isTernError(error)) throw error;
            expect(error.code, text).toBe('fork/unreachable');
            refused++;
          }
        }
      }
      expect(answers.length).toBeGreaterThan(1);
      expect(refused).toBeGreaterThan(lies / 2);
    },
    20_000,
  );
});
