import type { ContractFacts } from '#domain/actions/trace-facts.js';
import type { TraceInput } from '#domain/actions/trace-input.js';
import { JettonBurn, JettonInternalTransfer, JettonTransfer, NftTransfer } from '#domain/tokens/token-messages.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { account, bodyOf, type MadeMessage, madeTickTock, madeTrace } from '#test/support/made-traces.js';
import { KnownFacts } from '#test/support/recorded-actions.js';

/*
 * Traces of the types and forms of actions that no recorded trace has, made by the layouts of their messages, with the one action of the
 * type that is expected. The layouts are written here once more, so that a wrong one in the classifier is found.
 */

/** A trace with what is expected of it. */
interface GoldenAction {
  readonly name: string;
  readonly type: string;
  readonly success: boolean;
  /** Details that are compared; others may have any value. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly trace: TraceInput;
}

const [USER, POOL, WALLET, POOL_WALLET, MASTER, POSITION, CLIENT, OTHER, ROUTER] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const [USDE_WALLET, USDE_POOL_WALLET, STAKED_MASTER, STAKED_WALLET] = [10, 11, 12, 13];
const [LP_WALLET, ROUTER_WALLET, ITEM, COLLECTION, AUCTION, LISTING] = [14, 15, 16, 17, 18, 19];
const EMPTY = new Builder().endCell();
const USDE = '0:086FA2A675F74347B08DD4606A549B8FDB98829CB282BC1949D3B12FBAED9DCC';
const STAKED_USDE = '0:D0E545323C7ACB7102653C073377F7E3C67F122EB94D430A250739F109D4A57D';

/** What the contracts of these traces are. */
export function goldenFacts(): KnownFacts {
  const known = new KnownFacts();
  const add = (number: number, facts: Partial<ContractFacts>) => known.add(account(number).toRaw(), facts);
  const wallet = (number: number, owner: number, jetton: Address) =>
    add(number, { jetton_wallet: { owner: account(owner), jetton } });
  wallet(WALLET, USER, account(MASTER));
  wallet(POOL_WALLET, POOL, account(MASTER));
  wallet(ROUTER_WALLET, ROUTER, account(MASTER));
  wallet(USDE_WALLET, USER, parseAddress(USDE).address);
  wallet(USDE_POOL_WALLET, POOL, parseAddress(USDE).address);
  wallet(STAKED_WALLET, USER, parseAddress(STAKED_USDE).address);
  wallet(LP_WALLET, USER, account(POOL));
  add(POOL, { dex_pool: { dex: 'dedust_v2', asset_1: null, asset_2: account(MASTER) } });
  const item = { index: 7n, collection: account(COLLECTION), owner: account(USER), content_uri: null };
  add(ITEM, { nft_item: item });
  const auction = { nft: account(ITEM), nft_owner: account(USER), marketplace: account(OTHER), last_bid: null };
  add(AUCTION, { nft_auction: auction });
  return known;
}

interface Transferred {
  readonly from: number;
  readonly to: number;
  readonly fromWallet: number;
  readonly toWallet: number;
  readonly units?: bigint;
  readonly payload?: Cell | null;
  /** The wallet that receives fails. */
  readonly aborted?: boolean;
  /** What the receiver sends when it is notified. */
  readonly onNotice?: readonly MadeMessage[];
}

/** A transfer of jettons: the message of the owner to its wallet. */
function jettons({ from, to, fromWallet, toWallet, ...more }: Transferred): MadeMessage {
  const { units: amount = 500n, payload = null, aborted = false, onNotice } = more;
  const transfer = {
    ...{ query_id: 0n, amount, destination: account(to), response_destination: account(from) },
    ...{ custom_payload: null, forward_ton_amount: 1n, forward_payload: payload },
  };
  const internal = {
    ...{ query_id: 0n, amount, from: account(from), response_address: account(from) },
    ...{ forward_ton_amount: 1n, forward_payload: payload },
  };
  const notified = { query_id: 0n, amount, sender: account(from), forward_payload: payload };
  const notice = onNotice === undefined ? [] : [{ to, body: encodeCell(Notification, notified), sends: onNotice }];
  const received = {
    to: toWallet,
    body: encodeCell(JettonInternalTransfer, internal),
    aborted,
    sends: aborted ? [] : notice,
  };
  return { to: fromWallet, body: encodeCell(JettonTransfer, transfer), sends: [received] };
}

const Notification = layout(
  'transfer_notification#7362d09c query_id:uint64 amount:Coins sender:MsgAddress forward_payload:(Either Cell ^Cell)',
);

/** 500 units from the user to the pool. */
const toPool = (more: Partial<Transferred> = {}) =>
  jettons({ from: USER, to: POOL, fromWallet: WALLET, toWallet: POOL_WALLET, ...more });
/** 500 units from the pool to the user. */
const toUser = (more: Partial<Transferred> = {}) =>
  jettons({ from: POOL, to: USER, fromWallet: POOL_WALLET, toWallet: WALLET, ...more });

function golden(
  name: string,
  [type, success]: readonly [string, boolean],
  sent: readonly MadeMessage[],
  details: GoldenAction['details'],
): GoldenAction {
  return { name, type, success, details, trace: madeTrace(USER, sent) };
}

function dedustV2(): GoldenAction[] {
  const PayNative = layout('pay_native#a5a7cbf8 query_id:uint64 amount:Coins payload:^Cell config:^Cell');
  const PayJetton = layout('pay#cbc33949 payload:^Cell config:^Cell');
  const Request = layout('swap#c442500f min_out:Coins deadline:uint40 next:(Maybe ^Cell)');
  const SwapEvent = layout('swap#78e79ba4 is_x_to_y:Bool amount_in:Coins amount_out:Coins');
  const Payout = layout('payout#3216ca09 query_id:uint64 amount:Coins exit_code:int32');
  const swap = encodeCell(Request, { min_out: 400n, deadline: 0n, next: null });
  const native = (payload: Cell) => encodeCell(PayNative, { query_id: 0n, amount: 900n, payload, config: EMPTY });
  const byJettons = (payload: Cell) => encodeCell(PayJetton, { payload, config: EMPTY });
  const event = (is_x_to_y: boolean, amount_in: bigint, amount_out: bigint): MadeMessage => ({
    to: null,
    body: encodeCell(SwapEvent, { is_x_to_y, amount_in, amount_out }),
  });
  const payout = (amount: bigint, exit_code: number): MadeMessage => ({
    to: USER,
    body: encodeCell(Payout, { query_id: 0n, amount, exit_code }),
  });
  const bought = {
    ...{ dex: 'dedust_v2', asset_in: null, asset_out: account(MASTER), min_out_amount: 400n },
    dex_incoming_transfer: { amount: 900n, source: account(USER), destination: account(POOL) },
    dex_outgoing_transfer: { amount: 500n, asset: account(MASTER), destination_jetton_wallet: account(WALLET) },
  };
  const sold = {
    ...{ dex: 'dedust_v2', asset_in: account(MASTER), asset_out: null },
    dex_incoming_transfer: { amount: 500n, asset: account(MASTER), source_jetton_wallet: account(WALLET) },
    dex_outgoing_transfer: { amount: 300n, asset: null, destination: account(USER) },
  };
  const notSold = {
    ...{ dex: 'dedust_v2', asset_in: account(MASTER), asset_out: null },
    dex_outgoing_transfer: { amount: 0n, asset: account(MASTER) },
  };

  const Deposit = layout('deposit#c9a015da amount_x:Coins amount_y:Coins min_lp:Coins flags:uint16');
  const Credit = layout('credit#dc5ddba1 query_id:uint64 is_x:Bool amount:Coins');
  const Joined = layout('deposit#35df2e12 amount_x:Coins amount_y:Coins lp:Coins');
  const deposit = encodeCell(Deposit, { amount_x: 900n, amount_y: 500n, min_lp: 1n, flags: 0 });
  const join = (further: readonly MadeMessage[]): MadeMessage => ({
    to: POOL,
    body: bodyOf(0x25251ee0),
    sends: further,
  });
  const credit = (is_x: boolean, amount: bigint, further: readonly MadeMessage[]): MadeMessage => ({
    to: POSITION,
    body: encodeCell(Credit, { query_id: 0n, is_x, amount }),
    sends: further,
  });
  const joined = [
    { to: null, body: encodeCell(Joined, { amount_x: 900n, amount_y: 500n, lp: 670n }) },
    { to: CLIENT, body: bodyOf(0x855afcbd) },
  ];
  const half = { dex: 'dedust_v2', amount_1: 900n, asset_1: null, amount_2: null, target_amount_2: 500n };

  const Withdraw = layout(
    'withdraw#20b5ef89 query_id:uint64 liquidity:Coins min_x:Coins min_y:Coins auto_claim:Bool config:^Cell',
  );
  const Withdrawn = layout('withdraw#c0d77b54 lp:Coins amount_x:Coins amount_y:Coins');
  const order = { query_id: 0n, liquidity: 670n, min_x: 0n, min_y: 0n, auto_claim: false, config: EMPTY };
  const withdraw = (further: readonly MadeMessage[]): MadeMessage => ({
    to: CLIENT,
    body: encodeCell(Withdraw, order),
    sends: [
      { to: POSITION, body: bodyOf(0xbc1531a9), sends: [{ to: POOL, body: bodyOf(0xf6f6a3aa), sends: further }] },
    ],
  });
  const withdrawn = { to: null, body: encodeCell(Withdrawn, { lp: 670n, amount_x: 300n, amount_y: 500n }) };
  const taken = { dex: 'dedust_v2', lp_tokens_burnt: 670n, source: account(USER), pool: account(POOL) };

  const FeesPaid = layout('claim_fees#29ff1bcf query_id:uint64 amount_x:Coins amount_y:Coins owner:MsgAddress');
  const RewardPaid = layout('claim_reward#9e17fbbe query_id:uint64 amount:Coins index:uint2 owner:MsgAddress');
  const claim = (start: number, middle: number, end: MadeMessage): MadeMessage => ({
    to: POSITION,
    body: bodyOf(start),
    sends: [{ to: CLIENT, body: bodyOf(middle), sends: [end] }],
  });
  const fees = encodeCell(FeesPaid, { query_id: 0n, amount_x: 0n, amount_y: 500n, owner: account(USER) });
  const reward = encodeCell(RewardPaid, { query_id: 0n, amount: 500n, index: 1, owner: account(USER) });
  const claimFees = (aborted: boolean) =>
    claim(0x5652f1df, 0x25f19752, { to: POOL, body: fees, aborted, sends: aborted ? [] : [toUser()] });
  const claimReward = (aborted: boolean) =>
    claim(0x909fdb65, 0x2e0cccba, { to: POOL, body: reward, aborted, sends: aborted ? [] : [toUser()] });
  const owner = account(USER);
  const pool = account(POOL);

  return [
    golden(
      'DeDust v2 sells jettons for TON',
      ['jetton_swap', true],
      [{ to: POOL, body: native(swap), sends: [event(true, 900n, 500n), toUser()] }],
      bought,
    ),
    golden(
      'DeDust v2 pays TON back',
      ['jetton_swap', false],
      [{ to: POOL, body: native(swap), sends: [payout(900n, 7)] }],
      {
        ...{ asset_out: account(MASTER), dex_outgoing_transfer: { asset: null, amount: 0n } },
      },
    ),
    golden(
      'DeDust v2 buys jettons',
      ['jetton_swap', true],
      [toPool({ payload: byJettons(swap), onNotice: [event(false, 500n, 300n), payout(300n, 0)] })],
      sold,
    ),
    golden(
      'DeDust v2 pays jettons back',
      ['jetton_swap', false],
      [toPool({ payload: byJettons(swap), onNotice: [toUser()] })],
      notSold,
    ),
    golden(
      'DeDust v2 takes a deposit of TON',
      ['dex_deposit_liquidity', true],
      [{ to: POOL, body: native(deposit), sends: [credit(true, 900n, [join(joined)])] }],
      {
        ...half,
        ...{ lp_tokens_minted: 670n, source: owner, pool, destination_liquidity: account(POSITION) },
      },
    ),
    golden(
      'DeDust v2 waits for the other asset of a deposit',
      ['dex_deposit_liquidity', true],
      [{ to: POOL, body: native(deposit), sends: [credit(true, 900n, [])] }],
      {
        ...half,
        lp_tokens_minted: null,
      },
    ),
    golden(
      'DeDust v2 takes a deposit of both assets',
      ['dex_deposit_liquidity', true],
      [
        { to: POOL, body: native(deposit), sends: [credit(true, 900n, [])] },
        toPool({ payload: byJettons(deposit), onNotice: [credit(false, 500n, [join(joined)])] }),
      ],
      {
        ...{ dex: 'dedust_v2', amount_1: 900n, asset_1: null, amount_2: 500n, asset_2: account(MASTER) },
        ...{ user_jetton_wallet_2: account(WALLET), lp_tokens_minted: 670n },
      },
    ),
    golden(
      'DeDust v2 returns a deposit',
      ['dex_deposit_liquidity', false],
      [{ to: POOL, body: native(deposit), sends: [credit(true, 900n, [join([payout(900n, 7)])])] }],
      {
        ...half,
        ...{ lp_tokens_minted: null, vault_excesses: [{ asset: null, amount: 900n }] },
      },
    ),
    golden(
      'DeDust v2 pays a withdrawal',
      ['dex_withdraw_liquidity', true],
      [withdraw([withdrawn, payout(300n, 0), toUser()])],
      {
        ...taken,
        ...{
          amount_1: 300n,
          asset_1: null,
          amount_2: 500n,
          asset_2: account(MASTER),
          user_jetton_wallet_2: account(WALLET),
        },
      },
    ),
    golden('DeDust v2 refuses a withdrawal', ['dex_withdraw_liquidity', false], [withdraw([])], {
      ...taken,
      amount_1: null,
    }),
    golden('DeDust v2 pays fees', ['dedust_v2_claim_fees', true], [claimFees(false)], { owner, pool, amount_1: 500n }),
    golden('DeDust v2 refuses to pay fees', ['dedust_v2_claim_fees', false], [claimFees(true)], {
      owner,
      pool,
      amount_1: null,
    }),
    golden('DeDust v2 pays a reward', ['dedust_v2_claim_reward', true], [claimReward(false)], {
      owner,
      pool,
      asset: account(MASTER),
      amount: 500n,
    }),
    golden('DeDust v2 refuses to pay a reward', ['dedust_v2_claim_reward', false], [claimReward(true)], {
      owner,
      pool,
      asset: null,
    }),
  ];
}

function stonfiV2(): GoldenAction[] {
  const Provide = layout(
    'provide_lp#37c096df query_id:uint64 from_user:MsgAddress left_amount:Coins right_amount:Coins payload:^Cell',
  );
  const Add = layout('add_liquidity#50c6a654 query_id:uint64 new_amount0:Coins new_amount1:Coins');
  const Added = layout('cb_add_liquidity#06ecd527 query_id:uint64 amount0:Coins amount1:Coins');
  const PayTo = layout(
    'pay_to#657b54f5 query_id:uint64 to_address:MsgAddress excesses_address:MsgAddress original_caller:MsgAddress exit_code:uint32 custom_payload:(Maybe ^Cell) amounts:^Cell',
  );
  const Amounts = layout(
    '_ fwd_ton_amount:Coins amount0_out:Coins token0_address:MsgAddress amount1_out:Coins token1_address:MsgAddress',
  );
  const user = account(USER);
  const provide = (further: readonly MadeMessage[]): MadeMessage => ({
    to: POOL,
    body: encodeCell(Provide, { query_id: 0n, from_user: user, left_amount: 500n, right_amount: 0n, payload: EMPTY }),
    sends: [
      { to: POSITION, body: encodeCell(Add, { query_id: 0n, new_amount0: 500n, new_amount1: 0n }), sends: further },
    ],
  });
  const minted = encodeCell(JettonInternalTransfer, {
    ...{ query_id: 0n, amount: 70n, from: account(POOL), response_address: user },
    ...{ forward_ton_amount: 0n, forward_payload: null },
  });
  const added = (aborted: boolean): MadeMessage => ({
    to: POOL,
    body: encodeCell(Added, { query_id: 0n, amount0: 500n, amount1: 0n }),
    sends: [{ to: LP_WALLET, body: minted, aborted }],
  });
  const returned = { to: POOL, body: encodeCell(Add, { query_id: 0n, new_amount0: 500n, new_amount1: 0n }) };
  const paid = (further: readonly MadeMessage[]) =>
    jettons({ from: USER, to: ROUTER, fromWallet: WALLET, toWallet: ROUTER_WALLET, onNotice: further });
  const amounts = encodeCell(Amounts, {
    ...{ fwd_ton_amount: 0n, amount0_out: 500n, token0_address: account(ROUTER_WALLET) },
    ...{ amount1_out: 0n, token1_address: null },
  });
  const payTo = (aborted: boolean): MadeMessage => ({
    to: ROUTER,
    body: encodeCell(PayTo, {
      ...{ query_id: 0n, to_address: user, excesses_address: user, original_caller: user },
      ...{ exit_code: 0xc64370e5, custom_payload: null, amounts },
    }),
    sends: [jettons({ from: ROUTER, to: USER, fromWallet: ROUTER_WALLET, toWallet: WALLET, aborted })],
  });
  const burn = encodeCell(JettonBurn, {
    ...{ query_id: 0n, amount: 70n, response_destination: user, custom_payload: null },
  });
  const withdraw = (aborted: boolean): MadeMessage => ({
    to: LP_WALLET,
    body: burn,
    sends: [{ to: POOL, body: bodyOf(0x297437cf), sends: [payTo(aborted)] }],
  });
  const refund = (aborted: boolean): MadeMessage => ({
    to: POSITION,
    body: bodyOf(0x132b9a2c),
    sends: [{ to: POOL, body: bodyOf(0x0f98e2b8), sends: [payTo(aborted)] }],
  });
  const common = { dex: 'stonfi_v2', source: user, pool: account(POOL) };
  const given = { ...common, amount_1: 500n, asset_1: account(MASTER), user_jetton_wallet_1: account(WALLET) };
  return [
    golden('STON.fi v2 takes a deposit', ['dex_deposit_liquidity', true], [paid([provide([added(false)])])], {
      ...given,
      ...{ destination_liquidity: account(POSITION), lp_tokens_minted: 70n, amount_2: null },
    }),
    golden('STON.fi v2 takes one asset of a deposit', ['dex_deposit_liquidity', true], [paid([provide([])])], {
      ...given,
      lp_tokens_minted: null,
    }),
    golden(
      'STON.fi v2 takes two deposits of one sender',
      ['dex_deposit_liquidity', true],
      [paid([provide([])]), paid([provide([added(false)])])],
      {
        ...{ ...given, amount_2: 500n, asset_2: account(MASTER), lp_tokens_minted: 70n },
      },
    ),
    golden('STON.fi v2 returns a deposit', ['dex_deposit_liquidity', false], [paid([provide([returned])])], {
      ...given,
      lp_tokens_minted: null,
    }),
    golden(
      'STON.fi v2 mints no tokens of the pool',
      ['dex_deposit_liquidity', false],
      [paid([provide([added(true)])])],
      given,
    ),
    golden('STON.fi v2 pays a withdrawal', ['dex_withdraw_liquidity', true], [withdraw(false)], {
      ...given,
      lp_tokens_burnt: 70n,
      is_refund: null,
    }),
    golden('STON.fi v2 cannot pay a withdrawal', ['dex_withdraw_liquidity', false], [withdraw(true)], {
      ...given,
      lp_tokens_burnt: 70n,
    }),
    golden('STON.fi v2 refunds a deposit', ['dex_withdraw_liquidity', true], [refund(false)], {
      ...given,
      is_refund: true,
    }),
    golden('STON.fi v2 cannot refund a deposit', ['dex_withdraw_liquidity', false], [refund(true)], {
      ...given,
      is_refund: true,
    }),
  ];
}

function ethena(): GoldenAction[] {
  const Mint = layout('mint#642b7d07 query_id:uint64 to_address:MsgAddress ton_amount:Coins master_msg:^Cell');
  const internal = encodeCell(JettonInternalTransfer, {
    ...{ query_id: 0n, amount: 450n, from: null, response_address: account(USER) },
    ...{ forward_ton_amount: 0n, forward_payload: null },
  });
  const mint = (aborted: boolean): MadeMessage => ({
    to: STAKED_MASTER,
    body: encodeCell(Mint, { query_id: 0n, to_address: account(USER), ton_amount: 1n, master_msg: EMPTY }),
    sends: [{ to: STAKED_WALLET, body: internal, aborted }],
  });
  const stake = (aborted: boolean) =>
    jettons({ from: USER, to: POOL, fromWallet: USDE_WALLET, toWallet: USDE_POOL_WALLET, onNotice: [mint(aborted)] });
  const details = {
    ...{ provider: 'ethena', stake_holder: account(USER), pool: account(POOL), amount: 500n, tokens_minted: 450n },
    ...{ asset: parseAddress(STAKED_USDE).address, source_asset: parseAddress(USDE).address },
  };
  return [
    golden('Ethena takes a deposit', ['stake_deposit', true], [stake(false)], details),
    golden('Ethena cannot mint for a deposit', ['stake_deposit', false], [stake(true)], details),
  ];
}

function coffee(): GoldenAction[] {
  const Failed = layout('mev_protect_failed_swap#ee51ce51 query_id:uint64 recipient:MsgAddress');
  const failed = encodeCell(Failed, { query_id: 0n, recipient: account(OTHER) });
  const coins = (aborted: boolean): MadeMessage => ({ to: OTHER, body: failed, value: 70n, aborted });
  const byTon = { recipient: account(OTHER), asset: null, amount: 70n };
  const byJettons = { recipient: account(OTHER), asset: account(MASTER), amount: 500n };
  const held = {
    ...{ source: account(USER), source_jetton_wallet: account(WALLET), mev_contract: account(POOL) },
    ...{ mev_contract_jetton_wallet: account(POOL_WALLET), asset: account(MASTER), amount: 500n },
  };
  const hold = bodyOf(0x6bc79e7e);
  const fee = { to: OTHER, body: bodyOf(0xc0ffeea0) };
  const back = (aborted: boolean) => toUser({ payload: failed, aborted });
  return [
    golden('Coffee returns TON that it held', ['coffee_mev_protect_failed_swap', true], [coins(false)], byTon),
    golden('Coffee cannot return TON', ['coffee_mev_protect_failed_swap', false], [coins(true)], byTon),
    golden(
      'Coffee returns jettons',
      ['coffee_mev_protect_failed_swap', true],
      [{ to: POOL, body: bodyOf(0x22222222), sends: [back(false)] }],
      byJettons,
    ),
    golden(
      'Coffee cannot return jettons',
      ['coffee_mev_protect_failed_swap', false],
      [{ to: POOL, body: bodyOf(0x22222222), sends: [back(true)] }],
      byJettons,
    ),
    golden('Coffee holds jettons', ['coffee_mev_protect_hold_funds', true], [toPool({ payload: hold }), fee], held),
    golden(
      'Coffee cannot hold jettons',
      ['coffee_mev_protect_hold_funds', false],
      [toPool({ payload: hold, aborted: true })],
      held,
    ),
  ];
}

function evaa(): GoldenAction[] {
  const ToUser = layout('_ version:Coins upgrade:(Maybe ^Cell) flags:uint2 op:uint32 query_id:uint64');
  const user = (op: number, further: readonly MadeMessage[]): MadeMessage => ({
    to: CLIENT,
    body: encodeCell(ToUser, { version: 6n, upgrade: null, flags: 3, op, query_id: 0n }),
    sends: further,
  });

  const Supply = layout('supply#00000001 include_user_code:uint2 recipient:MsgAddress');
  const Outcome = layout('_ op:uint32 query_id:uint64 owner:MsgAddress asset_id:uint256 amount:uint64');
  const supply = encodeCell(Supply, { include_user_code: 0, recipient: account(OTHER) });
  const outcome = (op: number, further: readonly MadeMessage[] = []): MadeMessage => ({
    to: POOL,
    body: encodeCell(Outcome, { op, query_id: 0n, owner: account(USER), asset_id: 9n, amount: 500n }),
    sends: further,
  });
  const supplied = {
    ...{ is_ton: false, asset_id: '0x9', asset: account(MASTER), amount: 500n, recipient: account(OTHER) },
    ...{
      source_wallet: account(WALLET),
      master_jetton_wallet: account(POOL_WALLET),
      recipient_contract: account(CLIENT),
    },
  };

  const Withdraw = layout('withdraw#00000002 query_id:uint64 asset_id:uint256 amount:uint64 recipient:MsgAddress');
  const body = encodeCell(Withdraw, { query_id: 0n, asset_id: 9n, amount: 500n, recipient: account(USER) });
  const withdraw = (further: readonly MadeMessage[]): MadeMessage => ({ to: POOL, body, sends: [user(0x21, further)] });
  const withdrawn = { source: account(USER), owner_contract: account(CLIENT), asset_id: '0x9', amount: 500n };

  const Liquidate = layout(
    'liquidate#00000003 query_id:uint64 borrower:MsgAddress liquidator:MsgAddress collateral_asset_id:uint256 min_collateral:uint64 include_user_code:uint2 amount:uint64',
  );
  const LiquidatePayload = layout(
    'liquidate#00000003 borrower:MsgAddress liquidator:MsgAddress collateral_asset_id:uint256 min_collateral:uint64',
  );
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
  const wanted = {
    ...{ borrower: account(OTHER), liquidator: account(USER), collateral_asset_id: 9n, min_collateral: 1n },
  };
  const liquidate = encodeCell(Liquidate, { ...wanted, query_id: 0n, include_user_code: 0, amount: 300n });
  const parties = { query_id: 0n, owner: account(OTHER), liquidator: account(USER), transferred_asset_id: 1n };
  const seized = encodeCell(Seized, {
    ...{ delta_loan: 1n, liquidatable_amount: 300n, protocol_gift: 0n, new_loan: 0n },
    ...{ collateral_asset_id: 9n, delta_collateral: 1n, collateral_reward: 500n },
  });
  const refused = encodeCell(Refused, {
    ...{ transferred_amount: 300n, collateral_asset_id: 9n, min_collateral: 1n },
    ...{ forward_ton_amount: 0n, custom_payload: EMPTY, error: 0x31f2 },
  });
  const satisfied = { to: POOL, body: encodeCell(Satisfied, { ...parties, details: seized }), sends: [toUser()] };
  const unsatisfied = { to: POOL, body: encodeCell(Unsatisfied, { ...parties, details: refused }) };
  const byTon = (end: MadeMessage): MadeMessage => ({ to: POOL, body: liquidate, sends: [user(0x31, [end])] });
  const byJettons = (end: MadeMessage) =>
    toPool({ units: 300n, payload: encodeCell(LiquidatePayload, wanted), onNotice: [user(0x31, [end])] });
  const common = {
    source: account(USER),
    borrower: account(OTHER),
    debt_amount: 300n,
    borrower_contract: account(CLIENT),
  };
  const received = { ...common, collateral: account(MASTER), amount: 500n, is_known_asset: true };
  const nothing = { ...common, fail_reason: 'not_liquidatable', is_known_asset: false, amount: null };

  return [
    golden(
      'EVAA takes jettons',
      ['evaa_supply', true],
      [toPool({ payload: supply, onNotice: [user(0x11, [outcome(0x11a)])] })],
      supplied,
    ),
    golden(
      'EVAA returns jettons',
      ['evaa_supply', false],
      [toPool({ payload: supply, onNotice: [user(0x11, [outcome(0x11f, [toUser()])])] })],
      supplied,
    ),
    golden('EVAA pays jettons', ['evaa_withdraw', true], [withdraw([outcome(0x211, [user(0x211a, []), toUser()])])], {
      ...withdrawn,
      ...{ asset: account(MASTER), recipient_jetton_wallet: account(WALLET), fail_reason: null },
    }),
    golden(
      'EVAA has no jettons to pay',
      ['evaa_withdraw', false],
      [withdraw([outcome(0x211, [{ ...user(0x211f, [{ to: USER, body: bodyOf(0x00211fe8) }]) }])])],
      {
        ...withdrawn,
        ...{ fail_reason: 'withdraw_no_funds_excess', asset: null },
      },
    ),
    golden('EVAA refuses a withdrawal', ['evaa_withdraw', false], [withdraw([{ to: USER, body: bodyOf(0x21e6) }])], {
      ...withdrawn,
      fail_reason: 'withdraw_locked_excess',
    }),
    golden('EVAA liquidates a loan of TON', ['evaa_liquidate', true], [byTon(satisfied)], { ...received, asset: null }),
    golden('EVAA refuses to liquidate a loan of TON', ['evaa_liquidate', false], [byTon(unsatisfied)], nothing),
    golden('EVAA liquidates a loan of jettons', ['evaa_liquidate', true], [byJettons(satisfied)], {
      ...received,
      asset: account(MASTER),
    }),
    golden('EVAA refuses to liquidate a loan of jettons', ['evaa_liquidate', false], [byJettons(unsatisfied)], {
      ...nothing,
      asset: account(MASTER),
    }),
  ];
}

function tgbtc(): GoldenAction[] {
  const MintEvent = layout('mint_event#77a80ef3 amount:Coins recipient_address:MsgAddress bitcoin_txid:bits256');
  const KeyEvent = layout('new_key_event#27756729 amount:Coins new_internal_pubkey:bits256 pegout_address:MsgAddress');
  const bitcoin_txid = Uint8Array.from({ length: 32 }, (_, i) => i);
  const report = (body: Cell): MadeMessage => ({ to: POOL, body: bodyOf(0x22222222), sends: [{ to: null, body }] });
  const mint = encodeCell(MintEvent, { amount: 5n, recipient_address: account(OTHER), bitcoin_txid });
  const key = encodeCell(KeyEvent, { amount: 5n, new_internal_pubkey: bitcoin_txid, pegout_address: account(OTHER) });
  return [
    golden('tgBTC reports a mint', ['tgbtc_mint_fallback', true], [report(mint)], {
      ...{ destination: account(OTHER), amount: 5n, asset: null, bitcoin_tx_id: bitcoin_txid.slice().reverse() },
    }),
    golden(
      'tgBTC reports a mint to nobody',
      ['tgbtc_mint_fallback', true],
      [report(encodeCell(MintEvent, { amount: 0n, recipient_address: null, bitcoin_txid }))],
      { destination: null, amount: 0n },
    ),
    golden('tgBTC reports a key', ['tgbtc_new_key_fallback', true], [report(key)], {
      ...{ coordinator: account(POOL), pegout: account(OTHER), amount: 5n, pubkey: bitcoin_txid },
    }),
    golden(
      'tgBTC reports a key without a contract that pays',
      ['tgbtc_new_key_fallback', true],
      [report(encodeCell(KeyEvent, { amount: 0n, new_internal_pubkey: bitcoin_txid, pegout_address: null }))],
      { coordinator: account(POOL), pegout: null },
    ),
  ];
}

function nftAuctions(): GoldenAction[] {
  const Data = layout(
    '_ end:Bool is_canceled:Bool last_member:MsgAddress last_bid:Coins last_bid_at:uint32 end_time:uint32 owner:MsgAddress query_id:uint64 fee_factor:uint32 fee_base:uint32 royalty_factor:uint32 royalty_base:uint32 fees:^Cell constant:^Cell',
  );
  const Fees = layout('_ fee_address:MsgAddress royalty_address:MsgAddress');
  const Constant = layout('_ marketplace:MsgAddress min_bid:Coins max_bid:Coins min_step:Coins step_time:uint32');
  const data = encodeCell(Data, {
    ...{ end: false, is_canceled: false, last_member: null, last_bid: 0n, last_bid_at: 0, end_time: 1_800_000_000 },
    ...{ owner: account(USER), query_id: 0n, fee_factor: 5, fee_base: 100, royalty_factor: 7, royalty_base: 1000 },
    fees: encodeCell(Fees, { fee_address: account(OTHER), royalty_address: account(CLIENT) }),
    constant: encodeCell(Constant, {
      ...{ marketplace: account(OTHER), min_bid: 10n, max_bid: 900n, min_step: 1n, step_time: 300 },
    }),
  });
  // `StateInit` with code and data only.
  const init = new Builder().storeUint(0b00110, 5).storeRef(EMPTY).storeRef(data).endCell();
  const transfer = (new_owner: number) =>
    encodeCell(NftTransfer, {
      ...{ query_id: 0n, new_owner: account(new_owner), response_destination: account(USER) },
      ...{ custom_payload: null, forward_amount: 1n, forward_payload: null },
    });
  const Assigned = layout(
    'ownership_assigned#05138d91 query_id:uint64 prev_owner:MsgAddress forward_payload:(Either Cell ^Cell)',
  );
  const assigned = (from: number) =>
    encodeCell(Assigned, { query_id: 0n, prev_owner: account(from), forward_payload: null });
  const put = (aborted: boolean): MadeMessage => ({
    to: ITEM,
    body: transfer(LISTING),
    sends: [
      {
        to: LISTING,
        body: assigned(USER),
        sends: [
          { to: AUCTION, body: EMPTY, init, deploys: true },
          {
            to: ITEM,
            body: transfer(AUCTION),
            aborted,
            sends: aborted ? [] : [{ to: AUCTION, body: assigned(LISTING) }],
          },
        ],
      },
    ],
  });
  const details = {
    ...{ nft_item: account(ITEM), nft_collection: account(COLLECTION), owner: account(USER), nft_item_index: 7n },
    ...{ auction_address: account(AUCTION), listing_address: account(LISTING), min_bid: 10n, max_bid: 900n },
    ...{ marketplace_fee_factor: 5n, marketplace_fee_base: 100n, royalty_fee_base: 1000n },
    ...{ marketplace_fee_address: account(OTHER), royalty_address: account(CLIENT) },
  };
  return [
    golden('an item is put up for auction', ['nft_put_on_auction', true], [put(false)], details),
    golden('an item does not reach its auction', ['nft_put_on_auction', false], [put(true)], details),
  ];
}

function tickTock(): GoldenAction[] {
  const sent: MadeMessage = { to: OTHER, body: bodyOf(0x22222222) };
  const details = { account: account(POOL) };
  return [
    {
      name: 'a special account runs and sends',
      type: 'tick_tock',
      success: true,
      details,
      trace: madeTickTock(POOL, [sent]),
    },
    {
      ...{ name: 'a special account sends two messages', type: 'tick_tock', success: true, details },
      trace: madeTickTock(POOL, [sent, { ...sent, to: CLIENT, aborted: true }]),
    },
  ];
}

/** Types whose actions have no failure: reports in events, and runs that send nothing when they fail. */
export const NEVER_FAILED: ReadonlySet<string> = new Set([
  'tgbtc_mint_fallback',
  'tgbtc_new_key_fallback',
  'tick_tock',
]);

export const GOLDEN_ACTIONS: readonly GoldenAction[] = [
  ...dedustV2(),
  ...stonfiV2(),
  ...ethena(),
  ...coffee(),
  ...evaa(),
  ...tgbtc(),
  ...nftAuctions(),
  ...tickTock(),
];
