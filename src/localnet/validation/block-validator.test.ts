import { describe, expect, it } from 'vitest';
import type { Cell } from '#formats/cells/cell.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { isTernError } from '#kernel/tern-error.js';
import type { NewBlock, NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import { BlockValidator } from '#localnet/validation/block-validator.js';
import { RULES, type Rule } from '#localnet/validation/rules.js';
import { blocksAlterations } from '#test/support/alterations/blocks.js';
import { masterchainAlterations } from '#test/support/alterations/masterchain.js';
import { messagesAlterations } from '#test/support/alterations/messages.js';
import { aLibrary, BUSY, changeOut, inMasterchain, inShard } from '#test/support/altered-bundle.js';
import { chainBundles } from '#test/support/chain-bundles.js';
import { recordedMiddle } from '#test/support/recorded-middle.js';
import { vectorPath } from '#test/support/vector-files.js';

const middle = recordedMiddle();
const FIRST = 280;

/** A validator that has seen all masterchain blocks before one. */
function validatorBefore(seqno: number): BlockValidator {
  const validator = new BlockValidator(middle.tip, [], middle.earlier);
  for (const bundle of middle.bundles.slice(0, seqno - FIRST)) validator.check(bundle);
  return validator;
}

const validators = new Map<number, BlockValidator>();

/** What breaks when a masterchain block is changed: a rule, or another error; what else is reported when nothing does. */
function outcome(
  seqno: number,
  change: (bundle: NewBlockBundle, before: (block: NewBlock) => Cell) => NewBlockBundle,
): string {
  const validator = validators.get(seqno) ?? validatorBefore(seqno);
  validators.set(seqno, validator);
  const bundle = middle.bundles[seqno - FIRST]!;
  const before = (block: NewBlock) => validator.stateAfter(block.prev[0]!)!.root;
  try {
    const { deviations } = validator.check(change(bundle, before));
    validators.delete(seqno);
    return deviations.map(({ kind }) => kind).join(' ');
  } catch (error) {
    if (!isTernError(error)) throw error;
    return error.code === 'validation/broken-rule' ? String(error.data.rule) : error.code;
  }
}

const table = [...blocksAlterations, ...messagesAlterations, ...masterchainAlterations];

describe('masterchain blocks of recorded networks', () => {
  it('are accepted from the zerostate on', () => {
    const { tip, zerostates, bundles } = chainBundles(vectorPath('recorded-chain'));
    const validator = new BlockValidator(tip, zerostates);
    for (const bundle of bundles) expect(validator.check(bundle).deviations).toEqual([]);
    expect(validator.head.id.seqno).toBe(10);
  });

  it('are accepted from later on, with messages of all kinds', () => {
    const validator = validatorBefore(280);
    const reports = middle.bundles.map((bundle) => validator.check(bundle));
    expect(reports.reduce((sum, { transactions }) => sum + transactions, 0)).toBeGreaterThan(150);
    expect(reports.flatMap(({ deviations }) => deviations)).toEqual([]);
  });

  it('are accepted only after what they follow', () => {
    const validator = validatorBefore(280);
    expect(() => validator.check(middle.bundles[1]!)).toThrow('depends on the state after');
  });
});

describe('an altered masterchain block', () => {
  it.each(table)('breaks %s: %s', (rule, _what, seqno, change) => {
    expect(outcome(seqno, change)).toBe(rule);
  });

  it('leaves the validator where it was', () => {
    expect(outcome(BUSY, (bundle) => ({ ...bundle, shards: [] }))).toBe('shard-chain');
    expect(outcome(BUSY, (bundle) => bundle)).toBe('');
  });

  it('cannot be read when its form is another', () => {
    const change = inShard((parts) =>
      changeOut(parts, 'msg_export_new_defer', ({ out_msg, transaction }) => ({
        kind: 'msg_export_ext',
        msg: Lazy.ofCell(out_msg.value.msg.codec, out_msg.cell),
        transaction,
      })),
    );
    expect(outcome(BUSY, change)).toBe('validation/malformed');
  });

  it('fires most of the rules', () => {
    const fired = new Set(table.map(([rule]) => rule));
    const missing = Object.keys(RULES).filter((rule) => !fired.has(rule as Rule));
    // These need what the recorded masterchain blocks here do not have: splits and merges, repeated or lost messages, a key block.
    expect(missing.sort()).toEqual(NOT_HERE);
  });
});

describe('what a developer does from outside', () => {
  it('is reported: a library without an account', () => {
    expect(
      outcome(
        BUSY,
        inMasterchain(({ totals }) => {
          totals.libraries = aLibrary(totals.libraries);
        }),
      ),
    ).toBe('signatures');
  });
});

const NOT_HERE = [
  'account-address',
  'account-balance',
  'config-contract',
  'config-parameters',
  'import-once',
  'message-dest',
  'message-lt',
  'message-once',
  'message-src',
  'out-message-kind',
  'processing-order',
  'shard-turn',
];
