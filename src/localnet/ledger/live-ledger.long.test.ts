import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MASTERCHAIN_SHARD, printBlockId } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import type { NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { errorOf } from '#test/support/error-code.js';
import { FULL } from '#test/support/full-depth.js';
import { inNewFolder, newBundles } from '#test/support/new-bundles.js';
import { vectorPath } from '#test/support/vector-files.js';

const { genesis, bundles } = newBundles(vectorPath('recorded-chain'));

/** All that is told of a block, in a line. */
function told(ledger: LiveLedger, block: LedgerBlock): string {
  const { id, bytes, root, gen_utime, end_lt, mc_seqno } = block;
  const parts = [printBlockId(id), bytes.length, toHex(root.hash()), gen_utime, end_lt, mc_seqno];
  return [...parts, toHex(ledger.state(block).hash())].join(' ');
}

function expected({ shards, masterchain }: NewBlockBundle): string[] {
  const mc_seqno = masterchain.id.seqno;
  return [...shards, masterchain].map(({ id, bytes, root, gen_utime, end_lt, state }) => {
    const parts = [printBlockId(id), bytes.length, toHex(root.hash()), gen_utime, end_lt, mc_seqno];
    return [...parts, toHex(state.hash())].join(' ');
  });
}

/** What a ledger tells of the blocks of masterchain blocks, asked by their ids. */
function tellAll(ledger: LiveLedger, all: readonly NewBlockBundle[]): string[] {
  return all.flatMap(({ shards, masterchain }) =>
    [...shards, masterchain].map(({ id }) => told(ledger, ledger.block(id)!)),
  );
}

describe('a live chain', () => {
  it('begins with nothing but zerostates, and reports each masterchain block that comes', () =>
    inNewFolder((folder) => {
      expect(LiveLedger.exists(folder)).toBe(false);
      const ledger = LiveLedger.create(folder, genesis);
      expect([ledger.head, ledger.tip.shards, ledger.tip.masterchain.id]).toEqual([null, [], genesis.masterchain.id]);
      expect(LiveLedger.exists(folder)).toBe(true);
      const heads: (number | undefined)[] = [];
      const stop = ledger.onHead(() => heads.push(ledger.head?.id.seqno));
      for (const bundle of bundles.slice(0, 4)) ledger.append(bundle);
      stop();
      for (const bundle of bundles.slice(4)) ledger.append(bundle);
      expect(heads).toEqual([1, 2, 3, 4]);
      expect(tellAll(ledger, bundles)).toEqual(bundles.flatMap(expected));
      expect(ledger.tip.masterchain.id).toEqual(bundles.at(-1)!.masterchain.id);
      expect(ledger.tip.shards.map(({ id }) => id)).toEqual([bundles.at(-1)!.shards.at(-1)!.id]);
      expect([ledger.hasWorkchain(0), ledger.hasWorkchain(-1), ledger.hasWorkchain(1)]).toEqual([true, true, false]);
      expect(bundles.map(({ masterchain: { id } }) => ledger.signatures(ledger.block(id)!))).toEqual(
        bundles.map(({ signatures }) => signatures),
      );
      ledger.close();
    }));

  it('is there again when it is opened again, with the same keys', () =>
    inNewFolder((folder) => {
      const made = LiveLedger.create(folder, genesis);
      const { incarnation } = made;
      made.close();
      for (const bundle of bundles) {
        const ledger = LiveLedger.open(folder);
        expect(ledger.tip.masterchain.id.seqno).toBe(bundle.masterchain.id.seqno - 1);
        ledger.append(bundle);
        ledger.close();
      }
      const ledger = LiveLedger.open(folder);
      expect(ledger.incarnation).toBe(incarnation);
      expect(tellAll(ledger, bundles)).toEqual(bundles.flatMap(expected));
      expect({ ...ledger.genesis, masterchain: 0, workchains: 0 }).toEqual({
        ...genesis,
        masterchain: 0,
        workchains: 0,
      });
      expect(ledger.zerostates.map(({ id, bytes }) => [id, bytes])).toEqual(
        [genesis.masterchain, ...genesis.workchains].map(({ id, bytes }) => [id, bytes]),
      );
      ledger.close();
    }));

  it('is read by the replay as it is, and exports what the replay reads, without keys', () =>
    inNewFolder((folder) => {
      const ledger = LiveLedger.create(folder, genesis, { packBytes: 20_000 });
      for (const bundle of bundles) ledger.append(bundle);
      const target = join(folder, 'exported');
      const blocks = bundles.reduce((sum, { shards }) => sum + shards.length + 1, 0);
      expect(ledger.exportTo(target)).toEqual({ blocks });
      const head = bundles.at(-1)!.masterchain.id;
      for (const path of [target, join(folder, 'chains', ledger.incarnation)]) {
        const replay = openReplay(path, { to: null, head: null });
        expect(replay.head?.id).toEqual(head);
        expect(replay.signatures(replay.head!)).toEqual(bundles.at(-1)!.signatures);
        expect(toHex(replay.state(replay.head!).hash())).toBe(toHex(ledger.tip.masterchain.state.hash()));
      }
      const names = readdirSync(target);
      expect(names.filter((name) => name.endsWith('.pack')).length).toBeGreaterThan(3);
      expect(names.every((name) => /^(archive\.\d{7}\.pack|zerostate_.*\.boc)$/.test(name))).toBe(true);
      expect(errorOf(() => ledger.exportTo(target)).code).toBe('ledger/export-folder');
      ledger.close();
    }));

  it('refuses a masterchain block that does not follow, and is as it was before', () =>
    inNewFolder((folder) => {
      const ledger = LiveLedger.create(folder, genesis);
      ledger.append(bundles[0]!);
      const next = bundles[1]!;
      const [shard] = next.shards;
      const bytes = next.masterchain.bytes.slice(1);
      const wrong: readonly (readonly [NewBlockBundle, string])[] = [
        [bundles[0]!, 'it follows another block'],
        [bundles[2]!, 'which is not there'],
        [{ ...next, shards: [] }, 'which is not there'],
        [{ ...next, masterchain: { ...next.masterchain, bytes } }, 'its file has another hash'],
        [{ ...next, masterchain: { ...next.masterchain, gen_utime: 7 } }, 'gen_utime is 7'],
        [{ ...next, masterchain: { ...next.masterchain, key_block: true } }, 'key block'],
        [{ ...next, masterchain: { ...next.masterchain, state: shard!.state } }, 'the state after it is another'],
        [{ ...next, signatures: bundles[2]!.signatures }, ''],
        [{ ...next, shards: [next.masterchain] }, 'it is not one of a shard'],
      ];
      for (const [bundle, problem] of wrong) {
        const error = errorOf(() => ledger.append(bundle));
        expect(error.code, problem).toBe('ledger/wrong-round');
        expect(error.message).toContain(problem);
        expect(ledger.head?.id).toEqual(bundles[0]!.masterchain.id);
      }
      for (const bundle of bundles.slice(1)) ledger.append(bundle);
      expect(tellAll(ledger, bundles)).toEqual(bundles.flatMap(expected));
      ledger.close();
      expect(errorOf(() => ledger.append(next)).code).toBe('ledger/closed');
    }));

  it('belongs to one process at a time, and to a folder that has none yet', () =>
    inNewFolder((folder) => {
      expect(errorOf(() => LiveLedger.open(folder)).code).toBe('ledger/no-chain');
      const ledger = LiveLedger.create(folder, genesis);
      const error = errorOf(() => LiveLedger.open(folder));
      expect([error.code, error.data.holder]).toEqual(['ledger/in-use', `process ${process.pid}`]);
      ledger.close();
      ledger.close();
      expect(existsSync(join(folder, 'lock'))).toBe(false);
      expect(errorOf(() => LiveLedger.create(folder, genesis)).code).toBe('ledger/chain-exists');
      LiveLedger.open(folder).close();
    }));
});

/** Of the recorded chain, whose shards have been split and merged by then. */
const LAST = FULL ? 700 : 420;
const recorded = vectorPath('collection/recorded-net/chain');

describe('a live chain of hundreds of masterchain blocks with splits and merges', () => {
  it(
    'reports of all blocks what a replay reports, and makes old states again',
    () =>
      inNewFolder((folder) => {
        const { genesis: begin, bundles: all } = newBundles(recorded, LAST);
        const options = { packBytes: 2 ** 20, checkpointBytes: 2 ** 20 };
        const made = LiveLedger.create(folder, begin, options);
        for (const bundle of all) made.append(bundle);
        made.close();
        const ledger = LiveLedger.open(folder, options);
        expect(new Set(all.flatMap(({ shards }) => shards.map(({ id }) => id.shard))).size).toBeGreaterThan(2);
        expect(readdirSync(join(folder, 'chains', ledger.incarnation, 'states')).length).toBeGreaterThan(5);
        expect(ledger.tip.masterchain.id).toEqual(all.at(-1)!.masterchain.id);
        expect(tellAll(ledger, all)).toEqual(all.flatMap(expected));
        // Backwards and to and fro, as several readers would.
        const some = all.map((_, i) => all[(i * 577) % all.length]!).slice(0, 12);
        expect(tellAll(ledger, some)).toEqual(some.flatMap(expected));
        const keys = all.filter(({ masterchain }) => masterchain.key_block).map(({ masterchain }) => masterchain.id);
        for (let seqno = 0; seqno <= all.length + 1; seqno++) {
          const upTo = keys.findLast((id) => id.seqno <= seqno) ?? begin.masterchain.id;
          expect(ledger.keyBlockUpTo(seqno)).toEqual(upTo);
          expect(ledger.keyBlockFrom(seqno)).toEqual(keys.find((id) => id.seqno >= seqno) ?? null);
          const found = ledger.lookup({ ...MASTERCHAIN_SHARD, by: 'seqno', seqno });
          expect(found?.id ?? null).toEqual(all[seqno - 1]?.masterchain.id ?? null);
        }
        const replay = openReplay(join(folder, 'chains', ledger.incarnation), { to: null, head: null });
        for (let i = 0; i < 500; i++) {
          const { id, end_lt, gen_utime } = all[(i * 31) % all.length]!.shards[0] ?? all[0]!.masterchain;
          const place = { workchain: id.workchain, shard: [id.shard, 1n, (1n << 64n) - 1n][i % 3]! };
          for (const query of [
            { ...place, by: 'seqno' as const, seqno: id.seqno },
            { ...place, by: 'lt' as const, lt: end_lt - BigInt(i % 2) },
            { ...place, by: 'utime' as const, utime: gen_utime - (i % 2) },
          ]) {
            expect(ledger.lookup(query)?.id).toEqual(replay.lookup(query)?.id);
          }
        }
        ledger.close();
      }),
    120_000,
  );
});
