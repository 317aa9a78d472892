import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toHex } from '#kernel/bytes.js';
import { type LogFields, silentLogger } from '#kernel/logger.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { errorOf } from '#test/support/error-code.js';
import { inNewFolder, newBundles } from '#test/support/new-bundles.js';
import { vectorPath } from '#test/support/vector-files.js';

const { genesis, bundles } = newBundles(vectorPath('recorded-chain'));

/** As much as three or four bundles count. */
const CHECKPOINT_BYTES = 40_000;

describe('a checkpoint that cannot be written', () => {
  it('stops no block, is reported and tried again after as many blocks, and fails what needs it', () =>
    inNewFolder((folder) => {
      const warned: { readonly seqno: number; readonly fields: LogFields | undefined }[] = [];
      const heads: number[] = [];
      const seqno = (): number => ledger.head!.id.seqno;
      const ledger = LiveLedger.create(folder, genesis, {
        checkpointBytes: CHECKPOINT_BYTES,
        logger: { ...silentLogger, warn: (_, fields) => void warned.push({ seqno: seqno(), fields }) },
      });
      ledger.onHead(() => heads.push(seqno()));
      const states = join(folder, 'chains', ledger.incarnation, 'states');
      // Drafts cannot be written where folders are.
      const drafts = bundles.map((_, i) => join(states, `state.${String(i + 1).padStart(7, '0')}.boc.draft`));
      for (const draft of drafts) mkdirSync(draft, { recursive: true });
      for (const bundle of bundles) ledger.append(bundle);
      const seqnos = bundles.map(({ masterchain }) => masterchain.id.seqno);
      expect(heads).toEqual(seqnos);
      expect(warned.map((each) => each.seqno)).toEqual([4, 7, 10]);
      for (const { fields } of warned) expect(fields?.problem).toContain('cannot be written');
      expect(errorOf(() => ledger.saveSnapshot('a')).code).toBe('ledger/unwritable');
      for (const draft of drafts) rmSync(draft, { recursive: true });
      ledger.saveSnapshot('a');
      ledger.close();
      const again = LiveLedger.open(folder);
      expect(again.head?.id).toEqual(bundles.at(-1)!.masterchain.id);
      for (const { masterchain } of bundles) {
        const state = again.state(again.block(masterchain.id)!);
        expect(toHex(state.hash())).toBe(toHex(masterchain.state.hash()));
      }
      again.close();
    }));
});
