import { expect, it } from 'vitest';
import { ChangedKeys } from '#api/v3/answer-keys.js';
import { NO_KEYS, type TouchedKeys } from '#drivers/store/event-log.js';

const touched = (keys: Partial<TouchedKeys>): TouchedKeys => ({ ...NO_KEYS, ...keys });

it('knows whether a key changed after a version', () => {
  const changes = new ChangedKeys();
  changes.noteChanges(3, [{ touched: touched({ accounts: [-5n], messages: [7n] }), continued: [6n] }]);
  expect(changes.isUnchanged(['a-5'], 2)).toBe(false);
  expect(changes.isUnchanged(['a-5'], 3)).toBe(true);
  expect(changes.isUnchanged(['m7'], 2)).toBe(false);
  // A message was sent to an account, which has not received it.
  changes.noteChanges(4, [{ touched: touched({ accounts: [1n], receivers: [2n] }), continued: [] }]);
  expect(['d1', 'd2', 'd3', 'a2'].map((key) => changes.isUnchanged([key], 3))).toEqual([false, false, true, true]);
  // An account takes part in a trace that went on, without a transaction of its own.
  expect(changes.isUnchanged(['c6'], 2)).toBe(false);
  expect(changes.isUnchanged(['a6', 'h7', 't7'], 2)).toBe(true);
  expect(changes.isUnchanged([], 2)).toBe(true);
  changes.noteChanges(5, [{ touched: touched({ tokens: [8n] }), continued: [] }]);
  expect(['k8', 'a8', 'o8'].map((key) => changes.isUnchanged([key], 4))).toEqual([false, true, true]);
});

it('takes everything as changed by an event that does not say what it touched', () => {
  const changes = new ChangedKeys();
  changes.noteChanges(3, null);
  expect(changes.isUnchanged([], 2)).toBe(false);
  expect(changes.isUnchanged([], 3)).toBe(true);
});

it('does not vouch for versions whose changes it has forgotten', () => {
  const changes = new ChangedKeys(2);
  changes.noteChanges(3, [{ touched: touched({ traces: [1n] }), continued: [] }]);
  changes.noteChanges(4, [{ touched: touched({ traces: [2n, 3n] }), continued: [] }]);
  expect(changes.size).toBe(2);
  expect(changes.isUnchanged(['t9'], 2)).toBe(false);
  expect(changes.isUnchanged(['t9'], 3)).toBe(true);
  expect(changes.isUnchanged(['t2'], 3)).toBe(false);
});
