import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toHex } from '#kernel/bytes.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import {
  hasChain,
  requireSnapshot,
  resetChain,
  restoreSnapshot,
  startFromSnapshot,
} from '#localnet/ledger/snapshots.js';
import { errorOf } from '#test/support/error-code.js';
import { inNewFolder, newBundles } from '#test/support/new-bundles.js';
import { vectorPath } from '#test/support/vector-files.js';

const { genesis, bundles } = newBundles(vectorPath('recorded-chain'));

function appendTo(ledger: LiveLedger, seqno: number): void {
  for (const bundle of bundles.slice(ledger.head?.id.seqno ?? 0, seqno)) ledger.append(bundle);
}

/** Compares all blocks and states of the first masterchain blocks. */
function expectRounds(ledger: LiveLedger, seqno: number): void {
  expect(ledger.head?.id.seqno ?? 0).toBe(seqno);
  for (const { shards, masterchain } of bundles.slice(0, seqno)) {
    for (const { id, bytes, state } of [...shards, masterchain]) {
      const block = ledger.block(id)!;
      expect(toHex(block.bytes)).toBe(toHex(bytes));
      expect(toHex(ledger.state(block).hash())).toBe(toHex(state.hash()));
    }
  }
}

describe('a snapshot', () => {
  it('is gone back to, however the chain went on, as a chain of another name', () =>
    inNewFolder((folder) => {
      let ledger = LiveLedger.create(folder, genesis);
      const names = [ledger.incarnation];
      ledger.saveSnapshot('empty');
      appendTo(ledger, 3);
      expect(ledger.saveSnapshot('three').head).toEqual(bundles[2]!.masterchain.id);
      appendTo(ledger, 6);
      ledger.saveSnapshot('Six.6_-');
      expect(ledger.snapshots().map(({ name, head }) => [name, head.seqno])).toEqual([
        ['Six.6_-', 6],
        ['empty', 0],
        ['three', 3],
      ]);
      appendTo(ledger, 10);
      ledger.close();
      for (const [name, seqno] of [
        ['three', 3],
        ['empty', 0],
        ['Six.6_-', 6],
        ['three', 3],
      ] as const) {
        restoreSnapshot(folder, name);
        ledger = LiveLedger.open(folder);
        names.push(ledger.incarnation);
        expectRounds(ledger, seqno);
        appendTo(ledger, 10);
        expectRounds(ledger, 10);
        ledger.close();
        ledger = LiveLedger.open(folder);
        expectRounds(ledger, 10);
        ledger.close();
      }
      expect(new Set(names).size).toBe(5);
      expect(readdirSync(join(folder, 'chains'))).toEqual([names.at(-1)]);
      expect(requireSnapshot(folder, 'three').head.seqno).toBe(3);
    }));

  it('has a name of its own, which is no path', () =>
    inNewFolder((folder) => {
      const ledger = LiveLedger.create(folder, genesis);
      for (const name of ['', '.', '..', '.a', 'a/b', '../a', 'ä', 'a b', '-a', 'a'.repeat(65), 'a\n']) {
        for (const use of [
          () => ledger.saveSnapshot(name),
          () => ledger.deleteSnapshot(name),
          () => requireSnapshot(folder, name),
        ]) {
          expect(errorOf(use).code, name).toBe('ledger/bad-snapshot-name');
        }
      }
      ledger.saveSnapshot('a');
      for (const name of ['a', 'A']) {
        expect(errorOf(() => ledger.saveSnapshot(name)).code).toBe('ledger/snapshot-exists');
      }
      expect(errorOf(() => ledger.deleteSnapshot('b')).code).toBe('ledger/no-snapshot');
      expect(errorOf(() => restoreSnapshot(folder, 'a')).code).toBe('ledger/in-use');
      expect(errorOf(() => resetChain(folder)).code).toBe('ledger/in-use');
      ledger.deleteSnapshot('a');
      expect(ledger.snapshots()).toEqual([]);
      ledger.close();
      expect(errorOf(() => restoreSnapshot(folder, 'a')).code).toBe('ledger/no-snapshot');
      expect(hasChain(folder)).toBe(true);
    }));

  it('leaves the folder as it was when its chain cannot be started', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tern-snapshot-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const ledger = LiveLedger.create(folder, genesis);
    ledger.saveSnapshot('start');
    appendTo(ledger, 4);
    const { incarnation } = ledger;
    ledger.close();
    const fails = async () => {
      throw new Error('another fork');
    };
    await expect(startFromSnapshot(folder, 'start', fails)).rejects.toThrow('another fork');
    const before = LiveLedger.open(folder);
    expect(before.incarnation).toBe(incarnation);
    expectRounds(before, 4);
    before.close();
    resetChain(folder);
    await expect(startFromSnapshot(folder, 'start', fails)).rejects.toThrow('another fork');
    expect([hasChain(folder), readdirSync(join(folder, 'chains'))]).toEqual([false, []]);
    expect(await startFromSnapshot(folder, 'start', async () => hasChain(folder))).toBe(true);
  });

  it('stays when its chain is removed, and what was not finished is removed', () =>
    inNewFolder((folder) => {
      const ledger = LiveLedger.create(folder, genesis);
      appendTo(ledger, 4);
      ledger.saveSnapshot('four');
      ledger.close();
      resetChain(folder);
      expect([hasChain(folder), readdirSync(join(folder, 'chains'))]).toEqual([false, []]);
      resetChain(folder);
      LiveLedger.create(folder, genesis).close();
      mkdirSync(join(folder, 'snapshots', '.half'));
      mkdirSync(join(folder, 'chains', '0123456789abcdef.draft'));
      mkdirSync(join(folder, 'chains', 'of somebody else'));
      restoreSnapshot(folder, 'four');
      const again = LiveLedger.open(folder);
      expectRounds(again, 4);
      expect(existsSync(join(folder, 'snapshots', '.half'))).toBe(false);
      expect(readdirSync(join(folder, 'chains')).sort()).toEqual([again.incarnation, 'of somebody else'].sort());
      again.close();
    }));

  it('is found damaged by name', () =>
    inNewFolder((folder) => {
      const ledger = LiveLedger.create(folder, genesis);
      ledger.saveSnapshot('a');
      writeFileSync(join(folder, 'snapshots', 'a', 'snapshot.json'), '{"head": 5}');
      const error = errorOf(() => ledger.snapshots());
      expect([error.code, String(error.data.file)]).toEqual([
        'ledger/damaged',
        join(folder, 'snapshots', 'a', 'snapshot.json'),
      ]);
      ledger.deleteSnapshot('a');
      ledger.close();
    }));
});
