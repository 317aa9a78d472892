import { describe, expect, it } from 'vitest';
import type { Action } from '#domain/actions/action-registry.js';
import { classify } from '#domain/actions/classify.js';
import { Builder } from '#formats/cells/builder.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { account, bodyOf, type MadeMessage, madeTrace } from '#test/support/made-traces.js';
import { KnownFacts } from '#test/support/recorded-actions.js';

/* Actions that no recorded trace has, from traces that are made by the layouts of their messages. */

const [USER, POOL, WALLET, POOL_WALLET, MASTER, POSITION, CLIENT, OTHER] = [1, 2, 3, 4, 5, 6, 7, 8];
const EMPTY = new Builder().endCell();

const Transfer = layout(
  'transfer#0f8a7ea5 query_id:uint64 amount:Coins destination:MsgAddress response_destination:MsgAddress custom_payload:(Maybe ^Cell) forward_ton_amount:Coins forward_payload:(Either Cell ^Cell)',
);
const Internal = layout(
  'internal_transfer#178d4519 query_id:uint64 amount:Coins from:MsgAddress response_address:MsgAddress forward_ton_amount:Coins',
);

/** A transfer of 500 units by the pool. */
function paidByPool(aborted = false): MadeMessage {
  const transfer = {
    query_id: 0n,
    amount: 500n,
    destination: account(USER),
    response_destination: account(USER),
    custom_payload: null,
    forward_ton_amount: 0n,
    forward_payload: null,
  };
  const internal = {
    query_id: 0n,
    amount: 500n,
    from: account(POOL),
    response_address: account(USER),
    forward_ton_amount: 0n,
  };
  const received = { to: WALLET, body: encodeCell(Internal, internal), aborted };
  return { to: POOL_WALLET, body: encodeCell(Transfer, transfer), sends: [received] };
}

function facts(): KnownFacts {
  const known = new KnownFacts();
  known.add(account(WALLET).toRaw(), { jetton_wallet: { owner: account(USER), jetton: account(MASTER) } });
  known.add(account(POOL_WALLET).toRaw(), { jetton_wallet: { owner: account(POOL), jetton: account(MASTER) } });
  known.add(account(POOL).toRaw(), { dex_pool: { dex: 'dedust_v2', asset_1: null, asset_2: account(MASTER) } });
  return known;
}

function actionsOf(...sent: readonly MadeMessage[]): readonly Action[] {
  const { failure, actions } = classify(madeTrace(USER, sent), facts());
  expect(failure).toBeNull();
  return actions;
}

function single(type: string, actions: readonly Action[]): Action {
  const found = actions.filter((action) => action.type === type);
  expect(found.map((action) => action.type)).toEqual([type]);
  return found[0]!;
}

describe('DeDust v2', () => {
  const PayNative = layout('pay_native#a5a7cbf8 query_id:uint64 amount:Coins payload:^Cell config:^Cell');
  const Request = layout('swap#c442500f min_out:Coins deadline:uint40 next:(Maybe ^Cell)');
  const Event = layout('swap#78e79ba4 is_x_to_y:Bool amount_in:Coins amount_out:Coins');
  const Payout = layout('payout#3216ca09 query_id:uint64 amount:Coins exit_code:int32');
  const payload = encodeCell(Request, { min_out: 400n, deadline: 0n, next: null });
  const pay = encodeCell(PayNative, { query_id: 0n, amount: 900n, payload, config: EMPTY });

  it('exchanges', () => {
    const event = { to: null, body: encodeCell(Event, { is_x_to_y: true, amount_in: 900n, amount_out: 500n }) };
    const swap = single('jetton_swap', actionsOf({ to: POOL, body: pay, sends: [event, paidByPool()] }));
    expect(swap.success).toBe(true);
    expect(swap.details).toMatchObject({
      dex: 'dedust_v2',
      asset_in: null,
      asset_out: account(MASTER),
      dex_incoming_transfer: { amount: 900n, source: account(USER), destination: account(POOL) },
      dex_outgoing_transfer: { amount: 500n, asset: account(MASTER), destination_jetton_wallet: account(WALLET) },
      min_out_amount: 400n,
    });
  });

  it('fails to exchange, and pays back', () => {
    const back = { to: USER, body: encodeCell(Payout, { query_id: 0n, amount: 900n, exit_code: 7 }) };
    const swap = single('jetton_swap', actionsOf({ to: POOL, body: pay, sends: [back] }));
    expect(swap.success).toBe(false);
    expect(swap.details).toMatchObject({
      asset_out: account(MASTER),
      dex_outgoing_transfer: { asset: null, amount: 0n },
    });
  });

  it('does not tell of coins that the message does not carry', () => {
    const event = { to: null, body: encodeCell(Event, { is_x_to_y: true, amount_in: 900n, amount_out: 500n }) };
    const actions = actionsOf({ to: POOL, body: pay, value: 800n, sends: [event, paidByPool()] });
    expect(actions.filter(({ type }) => type === 'jetton_swap')).toEqual([]);
  });

  const FeesPaid = layout('claim_fees#29ff1bcf query_id:uint64 amount_x:Coins amount_y:Coins owner:MsgAddress');
  const RewardPaid = layout('claim_reward#9e17fbbe query_id:uint64 amount:Coins index:uint2 owner:MsgAddress');
  const chain = (start: number, middle: number, end: MadeMessage): MadeMessage => ({
    to: POSITION,
    body: bodyOf(start),
    sends: [{ to: CLIENT, body: bodyOf(middle), sends: [end] }],
  });

  it.each([false, true])('claims fees; refused: %s', (aborted) => {
    const body = encodeCell(FeesPaid, { query_id: 0n, amount_x: 0n, amount_y: 500n, owner: account(USER) });
    const end = { to: POOL, body, aborted, sends: aborted ? [] : [paidByPool()] };
    const claim = single('dedust_v2_claim_fees', actionsOf(chain(0x5652f1df, 0x25f19752, end)));
    expect(claim.success).toBe(!aborted);
    expect(claim.details).toMatchObject({ owner: account(USER), pool: account(POOL), amount_1: aborted ? null : 500n });
  });

  it.each([false, true])('claims a reward; refused: %s', (aborted) => {
    const body = encodeCell(RewardPaid, { query_id: 0n, amount: 500n, index: 1, owner: account(USER) });
    const end = { to: POOL, body, aborted, sends: aborted ? [] : [paidByPool()] };
    const claim = single('dedust_v2_claim_reward', actionsOf(chain(0x909fdb65, 0x2e0cccba, end)));
    expect(claim.success).toBe(!aborted);
    expect(claim.details).toMatchObject({ owner: account(USER), asset: aborted ? null : account(MASTER) });
  });
});

describe('reports of tgBTC', () => {
  const MintEvent = layout('mint_event#77a80ef3 amount:Coins recipient_address:MsgAddress bitcoin_txid:bits256');
  const KeyEvent = layout('new_key_event#27756729 amount:Coins new_internal_pubkey:bits256 pegout_address:MsgAddress');

  it('tells of a mint', () => {
    const bitcoin_txid = Uint8Array.from({ length: 32 }, (_, i) => i);
    const event = encodeCell(MintEvent, { amount: 5n, recipient_address: account(OTHER), bitcoin_txid });
    const mint = single(
      'tgbtc_mint_fallback',
      actionsOf({ to: POOL, body: bodyOf(0x22222222), sends: [{ to: null, body: event }] }),
    );
    expect(mint.details).toMatchObject({ destination: account(OTHER), amount: 5n, asset: null });
    expect((mint.details as { bitcoin_tx_id: Uint8Array }).bitcoin_tx_id[0]).toBe(31);
  });

  it('tells of a key', () => {
    const event = encodeCell(KeyEvent, {
      amount: 5n,
      new_internal_pubkey: new Uint8Array(32),
      pegout_address: account(OTHER),
    });
    const key = single(
      'tgbtc_new_key_fallback',
      actionsOf({ to: POOL, body: bodyOf(0x22222222), sends: [{ to: null, body: event }] }),
    );
    expect(key.details).toMatchObject({ coordinator: account(POOL), pegout: account(OTHER), amount: 5n });
  });

  it('says nothing when the body of the event is cut', () => {
    const event = new Builder().storeUint(0x77a80ef3, 32).storeUint(1, 4).endCell();
    const { actions, nearMisses } = classify(
      madeTrace(USER, [{ to: POOL, body: bodyOf(0x22222222), sends: [{ to: null, body: event }] }]),
      facts(),
    );
    expect(actions.map(({ type }) => type)).not.toContain('tgbtc_mint_fallback');
    expect(nearMisses).toMatchObject([
      { pattern: 'tgbtc_mint_fallback', reason: { kind: 'body', field: expect.any(String) } },
    ]);
  });
});

describe('Coffee', () => {
  const Failed = layout('mev_protect_failed_swap#ee51ce51 query_id:uint64 recipient:MsgAddress');

  it.each([false, true])('pays back what was held; refused: %s', (aborted) => {
    const body = encodeCell(Failed, { query_id: 0n, recipient: account(OTHER) });
    const failed = single('coffee_mev_protect_failed_swap', actionsOf({ to: OTHER, body, value: 70n, aborted }));
    expect(failed.success).toBe(!aborted);
    expect(failed.details).toMatchObject({ recipient: account(OTHER), asset: null, amount: 70n });
  });
});

describe('EVAA', () => {
  const Liquidate = layout(
    'liquidate#00000003 query_id:uint64 borrower:MsgAddress liquidator:MsgAddress collateral_asset_id:uint256 min_collateral:uint64 include_user_code:uint2 amount:uint64',
  );
  const ToUser = layout('_ version:Coins upgrade:(Maybe ^Cell) flags:uint2 op:uint32 query_id:uint64');
  const Satisfied = layout(
    'liquidate_satisfied#00000311 query_id:uint64 owner:MsgAddress liquidator:MsgAddress transferred_asset_id:uint256 details:^Cell',
  );
  const Seized = layout(
    '_ delta_loan:int64 liquidatable_amount:uint64 protocol_gift:uint64 new_loan:int64 collateral_asset_id:uint256 delta_collateral:int64 collateral_reward:uint64',
  );
  const Unsatisfied = layout(
    'liquidate_unsatisfied#0000031f query_id:uint64 owner:MsgAddress liquidator:MsgAddress transferred_asset_id:uint256 details:^Cell',
  );
  const Refused = layout(
    '_ transferred_amount:uint64 collateral_asset_id:uint256 min_collateral:uint64 forward_ton_amount:Coins custom_payload:^Cell error:uint32',
  );
  const liquidate = encodeCell(Liquidate, {
    query_id: 0n,
    borrower: account(OTHER),
    liquidator: account(USER),
    collateral_asset_id: 9n,
    min_collateral: 1n,
    include_user_code: 0,
    amount: 300n,
  });
  const toUser = encodeCell(ToUser, { version: 6n, upgrade: null, flags: 3, op: 0x31, query_id: 0n });
  const common = { query_id: 0n, owner: account(OTHER), liquidator: account(USER), transferred_asset_id: 1n };
  const start = (end: MadeMessage): MadeMessage => ({
    to: POOL,
    body: liquidate,
    sends: [{ to: CLIENT, body: toUser, sends: [end] }],
  });

  it('liquidates', () => {
    const details = encodeCell(Seized, {
      delta_loan: 1n,
      liquidatable_amount: 300n,
      protocol_gift: 0n,
      new_loan: 0n,
      collateral_asset_id: 9n,
      delta_collateral: 1n,
      collateral_reward: 500n,
    });
    const body = encodeCell(Satisfied, { ...common, details });
    const action = single('evaa_liquidate', actionsOf(start({ to: POOL, body, sends: [paidByPool()] })));
    expect(action.success).toBe(true);
    expect(action.details).toMatchObject({
      source: account(USER),
      borrower: account(OTHER),
      debt_amount: 300n,
      collateral: account(MASTER),
      amount: 500n,
      is_known_asset: true,
    });
  });

  it('refuses to liquidate', () => {
    const details = encodeCell(Refused, {
      transferred_amount: 300n,
      collateral_asset_id: 9n,
      min_collateral: 1n,
      forward_ton_amount: 0n,
      custom_payload: EMPTY,
      error: 0x31f2,
    });
    const body = encodeCell(Unsatisfied, { ...common, details });
    const action = single('evaa_liquidate', actionsOf(start({ to: POOL, body })));
    expect(action.success).toBe(false);
    expect(action.details).toMatchObject({ fail_reason: 'not_liquidatable', is_known_asset: false, amount: null });
  });
});
