import { describe, expect, it } from 'vitest';
import type { Action } from '#domain/actions/action-registry.js';
import { type Classification, classify } from '#domain/actions/classify.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { GOLDEN_ACTIONS, goldenFacts } from '#test/support/golden-actions.js';
import { bodyOf, type MadeMessage, madeTrace } from '#test/support/made-traces.js';

const [USER, POOL] = [1, 2];

describe('actions that no recorded trace has', () => {
  it.each(GOLDEN_ACTIONS)('$name', ({ type, success, details, trace }) => {
    const { failure, state, actions } = classify(trace, goldenFacts());
    expect([failure, state]).toEqual([null, 'ok']);
    const found = actions.filter((action: Action) => action.type === type);
    expect(found).toMatchObject([{ type, success, details }]);
  });
});

describe('messages that do not make up an action', () => {
  const classified = (sent: MadeMessage): Classification => classify(madeTrace(USER, [sent]), goldenFacts());

  it('do not show coins that they do not carry', () => {
    const PayNative = layout('pay_native#a5a7cbf8 query_id:uint64 amount:Coins payload:^Cell config:^Cell');
    const Request = layout('swap#c442500f min_out:Coins deadline:uint40 next:(Maybe ^Cell)');
    const Payout = layout('payout#3216ca09 query_id:uint64 amount:Coins exit_code:int32');
    const payload = encodeCell(Request, { min_out: 400n, deadline: 0n, next: null });
    const body = encodeCell(PayNative, { query_id: 0n, amount: 900n, payload, config: EMPTY_CELL });
    const payout = encodeCell(Payout, { query_id: 0n, amount: 10n, exit_code: 0 });
    const pay = (value: bigint): MadeMessage => ({ to: POOL, body, value, sends: [{ to: USER, body: payout }] });
    const types = (sent: MadeMessage) => classified(sent).actions.map(({ type }) => type);
    expect(types(pay(900n))).toEqual(['jetton_swap']);
    expect(types(pay(800n))).not.toContain('jetton_swap');
  });

  it('are near misses when the body of an event is cut', () => {
    const event = new Builder().storeUint(0x77a80ef3, 32).storeUint(1, 4).endCell();
    const sent = { to: POOL, body: bodyOf(0x22222222), sends: [{ to: null, body: event }] };
    const { actions, nearMisses } = classified(sent);
    expect(actions.map(({ type }) => type)).not.toContain('tgbtc_mint_fallback');
    expect(nearMisses).toMatchObject([
      { pattern: 'tgbtc_mint_fallback', reason: { kind: 'body', field: expect.any(String) } },
    ]);
  });
});
