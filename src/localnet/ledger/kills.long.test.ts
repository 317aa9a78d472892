import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { toHex } from '#kernel/bytes.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { RECORD_BYTES } from '#localnet/ledger/pack.js';
import { Random } from '#test/fuzz/random.js';
import { FULL } from '#test/support/full-depth.js';
import { inNewFolder, newBundles } from '#test/support/new-bundles.js';
import { vectorPath } from '#test/support/vector-files.js';

const { genesis, bundles } = newBundles(vectorPath('recorded-chain'));
const options = { packBytes: 30_000, checkpointBytes: 40_000 };
/** Bytes at which each file stopped, besides the first and last ones. */
const DRAWN = FULL ? 24 : 8;

/** Opens what is there, compares all of it with the masterchain blocks, and goes on to the end. @returns seqno and name that were found */
function checkAndGoOn(folder: string): { readonly seqno: number; readonly incarnation: string } {
  const ledger = LiveLedger.open(folder, options);
  const { incarnation } = ledger;
  const seqno = ledger.head?.id.seqno ?? 0;
  for (const bundle of bundles.slice(seqno)) ledger.append(bundle);
  for (const { shards, masterchain } of bundles) {
    for (const { id, bytes, state } of [...shards, masterchain]) {
      const block = ledger.block(id)!;
      expect(toHex(block.bytes)).toBe(toHex(bytes));
      expect(toHex(ledger.state(block).hash())).toBe(toHex(state.hash()));
    }
  }
  ledger.close();
  return { seqno, incarnation };
}

/** Runs a writer until some time after it has begun, and kills it. @returns the lines that it has said */
async function killWriter(folder: string, after: number): Promise<string[]> {
  const writer = fileURLToPath(new URL('../../../test/support/ledger-writer.ts', import.meta.url));
  const args = ['--conditions=source', '--import', 'tsx', writer, folder];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout!.on('data', (text) => {
    said += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  for (const until = Date.now() + 50_000; !said.startsWith('ready\n') && Date.now() < until; ) await delay(2);
  await delay(after);
  child.kill('SIGKILL');
  await ended;
  return said.split('\n').slice(0, -1);
}

describe('a chain whose program is killed', () => {
  it('loses no more than the masterchain block that was being written, at whatever byte it stopped', () =>
    inNewFolder((root) => {
      const folder = join(root, 'full');
      const ledger = LiveLedger.create(folder, genesis);
      const path = join(folder, 'chains', ledger.incarnation);
      const files = [join(path, 'archive.0000001.pack'), join(path, 'archive.0000001.index')] as const;
      const sizes = (): number[] => files.map((file) => (existsSync(file) ? statSync(file).size : 0));
      for (const bundle of bundles.slice(0, 6)) ledger.append(bundle);
      const before = sizes();
      ledger.append(bundles[6]!);
      const after = sizes();
      rmSync(join(folder, 'lock'));
      const torn = join(root, 'torn');
      const random = new Random('torn rounds');
      const packLengths = [...Array(DRAWN)].map(() => before[0]! + random.below(after[0]! - before[0]!));
      const indexLengths = [...Array(DRAWN)].map(() => before[1]! + random.below(after[1]! - before[1]!));
      const stops = [
        ...[before[0]!, before[0]! + 1, before[0]! + 9, after[0]! - 1, after[0]!, ...packLengths].map((at) => [
          at,
          before[1]!,
        ]),
        ...[before[1]! + RECORD_BYTES, after[1]! - 1, ...indexLengths].map((at) => [after[0]!, at]),
      ];
      for (const stop of stops) {
        cpSync(folder, torn, { recursive: true });
        files.forEach((file, i) => {
          truncateSync(file.replace(folder, torn), stop[i]!);
        });
        expect(checkAndGoOn(torn).seqno, String(stop)).toBe(6);
        rmSync(torn, { recursive: true });
      }
      expect(checkAndGoOn(folder).seqno).toBe(7);
      ledger.close();
    }));

  it('can be killed while a pack is being created', () =>
    inNewFolder((root) => {
      const states: readonly (readonly [pack: Uint8Array | null, index: Uint8Array | null])[] = [
        [null, null],
        [Uint8Array.of(1, 0xdd, 0x8f, 0xae), null],
        [Uint8Array.of(1, 0xdd, 0x8f, 0xae), new Uint8Array()],
        [new Uint8Array(), null],
      ];
      for (const [i, [pack, index]] of states.entries()) {
        const folder = join(root, String(i));
        const ledger = LiveLedger.create(folder, genesis, { packBytes: 1 });
        for (const bundle of bundles.slice(0, 4)) ledger.append(bundle);
        ledger.close();
        const path = join(folder, 'chains', ledger.incarnation);
        if (pack !== null) writeFileSync(join(path, 'archive.0000005.pack'), pack);
        if (index !== null) writeFileSync(join(path, 'archive.0000005.index'), index);
        writeFileSync(join(path, 'archive.0000005.pack.draft'), 'x');
        expect(checkAndGoOn(folder).seqno).toBe(4);
      }
    }));

  it(
    'is as far as it had said, when a process is killed at any instant',
    () =>
      inNewFolder(async (folder) => {
        const random = new Random('kills of a writer');
        for (let kill = 0; kill < (FULL ? 8 : 4); kill++) {
          const said = await killWriter(folder, random.below(250));
          expect(said[0]).toBe('ready');
          const last = said.at(-1)!;
          if (!LiveLedger.exists(folder)) {
            // Nothing was begun yet, or the chain was to be replaced.
            expect(['ready', 'change']).toContain(last);
            continue;
          }
          const { seqno, incarnation } = checkAndGoOn(folder);
          expect(readFileSync(join(folder, 'current'), 'utf8')).toBe(`${incarnation}\n`);
          const [, name, reached] = last.split(' ');
          if (last.startsWith('chain') && name === incarnation) {
            expect([0, 1]).toContain(seqno - Number(reached));
          } else {
            expect(last.startsWith('chain') ? 'other chain' : last).toMatch(/^(ready|change)$/);
          }
        }
      }),
    240_000,
  );
});
