import { describe, expect, it } from 'vitest';
import { classify } from '#domain/actions/classify.js';
import type { IndexedAction } from '#drivers/store/read/actions.js';
import { FakeIndex } from '#test/support/fake-index.js';
import { GOLDEN_ACTIONS, goldenFacts } from '#test/support/golden-actions.js';
import { account } from '#test/support/made-traces.js';
import { callV3 } from '#test/support/v3-method.js';

/** The action of a made trace as the index gives it. */
function indexed(name: string): IndexedAction {
  const { trace, type } = GOLDEN_ACTIONS.find((golden) => golden.name === name)!;
  const action = classify(trace, goldenFacts()).actions.find((each) => each.type === type)!;
  return {
    ...action,
    transactions: action.transactions.map((at) => trace.transactions[at]!.hash),
    details: action.details as IndexedAction['details'],
    ...{ position: 0, root: 1n, trace_id: trace.trace_id, trace_end_lt: action.end_lt },
    ...{ trace_end_utime: action.end_utime, trace_mc_seqno_end: 1 },
    ...{ trace_external_hash: null, trace_external_hash_norm: null },
  };
}

async function detailsOf(action: IndexedAction, profile: 'spec' | 'toncenter'): Promise<unknown> {
  const index = new FakeIndex({ actions: [action] });
  const { error, body } = await callV3('actions', '', { network: { index }, profile });
  expect(error).toBe('');
  return (body.actions as readonly { readonly details: unknown }[])[0]!.details;
}

const raw = (number: number) => account(number).toRaw().toUpperCase();

describe('details of coffee_mev_protect_failed_swap, which the live service does not support', () => {
  it.each([
    ['Coffee returns TON that it held', { recipient: raw(8), amount: '70' }],
    ['Coffee returns jettons', { recipient: raw(8), asset: raw(5), amount: '500' }],
    ['Coffee cannot return jettons', { recipient: raw(8), asset: raw(5), amount: '500' }],
  ])('are shown by the profile spec alone: %s', async (name, details) => {
    const action = indexed(name);
    expect(await detailsOf(action, 'spec')).toEqual(details);
    const error = "unsupported action type: 'coffee_mev_protect_failed_swap'";
    expect(await detailsOf(action, 'toncenter')).toEqual({ error });
  });
});
