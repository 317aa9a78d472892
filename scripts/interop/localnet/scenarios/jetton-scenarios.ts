import { type Address, beginCell, type Cell, contractAddress, type StateInit, toNano } from '@ton/core';
import { expectSame } from '../../same-answer.js';
import type { JsonObject } from '../../tonlib-session.js';
import { codeOf } from './contract-codes.js';
import { expectDecoded } from './decoded.js';
import { flatten, type Ledger } from './ledger.js';
import { expectOutcomes } from './outcome.js';
import type { Stage } from './stage.js';

const MINT = 21;
const INTERNAL_TRANSFER = 0x178d4519;
const TRANSFER = 0x0f8a7ea5;
const BURN = 0x595f07bc;

const MINTED = 1_000_000n;
const SENT = 300_000n;
const BURNT = 50_000n;

/** A jetton from its deployment to a burn. @returns what compares its tables in API v3 with the accounts */
export async function jettonScenarios(stage: Stage): Promise<(ledger: Ledger) => Promise<string>> {
  const owner = await stage.funded('v4r2', 1);
  const other = await stage.funded('v4r2', 0);
  const content = beginCell().storeUint(1, 8).storeStringTail('https://localhost/jetton.json').endCell();
  const walletCode = codeOf('jetton-wallet');
  const data = beginCell().storeCoins(0).storeAddress(owner.address).storeRef(content).storeRef(walletCode).endCell();
  const init: StateInit = { code: codeOf('jetton-minter'), data };
  const minter = contractAddress(0, init);
  const walletOf = (holder: Address): Address =>
    contractAddress(0, {
      code: walletCode,
      data: beginCell().storeCoins(0).storeAddress(holder).storeAddress(minter).storeRef(walletCode).endCell(),
    });
  const [ofOwner, ofOther] = [walletOf(owner.address), walletOf(other.address)];

  const mint = { to: minter, value: toNano('0.3'), init, body: mintBody(owner.address, minter) };
  await owner.send('jetton: minter deployed, and minted', [mint], (root) =>
    expectOutcomes(root, [
      [owner.address, 'ok'],
      [minter, 'ok'],
      [ofOwner, 'ok'],
      [owner.address, 'ok'],
    ]),
  );
  expectDecoded(stage.sent.at(-1)!, ['minter_jetton_mint', 'jetton_internal_transfer', 'excess']);
  const { stack } = await stage.client.runMethod(minter, 'get_wallet_address', [
    { type: 'slice', cell: beginCell().storeAddress(owner.address).endCell() },
  ]);
  expectSame(ofOwner.toRawString(), stack.readAddress().toRawString(), 'the address that the minter gives');

  const comment = beginCell().storeUint(0, 32).storeStringTail('for you').endCell();
  const transfer = beginCell().storeUint(TRANSFER, 32).storeUint(2, 64).storeCoins(SENT).storeAddress(other.address);
  transfer.storeAddress(owner.address).storeBit(false).storeCoins(toNano('0.02')).storeBit(true).storeRef(comment);
  await owner.send(
    'jetton: transfer with a comment',
    [{ to: ofOwner, value: toNano('0.2'), body: transfer.endCell() }],
    (root) => {
      const of = new Set(flatten(root).map(({ account }) => account));
      expectSame(5, flatten(root).length, 'transactions');
      expectSame(
        [owner.address, ofOwner, ofOther, other.address].map((each) => each.toRawString().toUpperCase()).sort(),
        [...of].sort(),
        'accounts',
      );
      return '5 transactions of 4 accounts';
    },
  );
  expectDecoded(stage.sent.at(-1)!, ['jetton_transfer', 'jetton_internal_transfer', 'jetton_notify', 'excess']);

  const burn = beginCell().storeUint(BURN, 32).storeUint(3, 64).storeCoins(BURNT).storeAddress(other.address);
  await other.send(
    'jetton: burn',
    [{ to: ofOther, value: toNano('0.2'), body: burn.storeBit(false).endCell() }],
    (root) =>
      expectOutcomes(root, [
        [other.address, 'ok'],
        [ofOther, 'ok'],
        [minter, 'ok'],
        [other.address, 'ok'],
      ]),
  );
  expectDecoded(stage.sent.at(-1)!, ['jetton_burn', 'jetton_burn_notification', 'excess']);

  const early = beginCell().storeUint(TRANSFER, 32).storeUint(4, 64).storeCoins(MINTED).storeAddress(other.address);
  early.storeAddress(owner.address).storeBit(false).storeCoins(0).storeBit(false);
  await owner.send(
    'jetton: more than there is',
    [{ to: ofOwner, value: toNano('0.2'), body: early.endCell() }],
    (root) =>
      expectOutcomes(root, [
        [owner.address, 'ok'],
        [ofOwner, 'exit 706, bounces'],
        [owner.address, 'ok'],
      ]),
  );

  return async (ledger) => {
    const supply = dataOf(ledger, minter).beginParse().loadCoins();
    const master = await stage.v3.row('jetton/masters', 'jetton_masters', { address: minter.toString() });
    expectSame(
      [`${supply}`, `${MINTED - BURNT}`, true, owner.address.toRawString().toUpperCase()],
      [master.total_supply, master.total_supply, master.mintable, master.admin_address] as string[],
      'the jetton',
    );
    for (const [holder, address, amount] of [
      [owner.address, ofOwner, MINTED - SENT],
      [other.address, ofOther, SENT - BURNT],
    ] as const) {
      const held = dataOf(ledger, address).beginParse().loadCoins();
      const row = await stage.v3.row('jetton/wallets', 'jetton_wallets', { address: address.toString() });
      const rawOf = (each: Address) => each.toRawString().toUpperCase();
      expectSame(
        [`${held}`, `${amount}`, rawOf(holder), rawOf(minter)],
        [row.balance, row.balance, row.owner, row.jetton] as string[],
        'a jetton wallet',
      );
    }
    const filter = { jetton_master: minter.toString() };
    const transfers = await stage.v3.rows('jetton/transfers', 'jetton_transfers', filter);
    // That of what there was not is aborted, and not listed.
    expectSame(
      [`2 ${SENT} false`],
      transfers.map((each) => `${each.query_id} ${each.amount} ${each.transaction_aborted}`),
      'transfers',
    );
    const burns = await stage.v3.rows('jetton/burns', 'jetton_burns', filter);
    expectSame(
      [`3 ${BURNT}`],
      burns.map((each: JsonObject) => `${each.query_id} ${each.amount}`),
      'burns',
    );
    return `supply ${supply}, 2 wallets, ${transfers.length} transfer, ${burns.length} burn`;
  };
}

function mintBody(to: Address, minter: Address): Cell {
  const internalTransfer = beginCell().storeUint(INTERNAL_TRANSFER, 32).storeUint(1, 64).storeCoins(MINTED);
  internalTransfer.storeAddress(minter).storeAddress(to).storeCoins(0).storeBit(false);
  const body = beginCell().storeUint(MINT, 32).storeUint(1, 64).storeAddress(to).storeCoins(toNano('0.1'));
  return body.storeRef(internalTransfer.endCell()).endCell();
}

/** The data of an account that is active. */
export function dataOf(ledger: Ledger, address: Address): Cell {
  const state = ledger.account(address)?.shardAccount.account?.storage.state;
  if (state?.type !== 'active' || !state.state.data) throw new Error(`${address} is not active`);
  return state.state.data;
}
