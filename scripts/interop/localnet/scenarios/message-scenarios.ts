import { Address, beginCell, Cell, contractAddress, type StateInit, toNano } from '@ton/core';
import { expectSame } from '../../same-answer.js';
import { flatten, type LedgerTransaction } from './ledger.js';
import { expectOutcomes, valueIn } from './outcome.js';
import type { Stage, StageWallet } from './stage.js';

/** SETCP0; THROW 42 */
const THROWS = initOf('ff00f22a');
/** SETCP0; an empty continuation, again and again */
const LOOPS = initOf('ff0090ea');

function initOf(code: string): StateInit {
  return { code: beginCell().storeBuffer(Buffer.from(code, 'hex')).endCell(), data: Cell.EMPTY };
}

/** Messages that come back, contracts that fail, the masterchain. */
export async function messageScenarios(stage: Stage): Promise<null> {
  const wallet = await stage.funded('v3r2', 1);
  await bounces(stage, wallet);
  await failures(wallet);
  await masterchain(stage, wallet);
  return null;
}

async function bounces(stage: Stage, wallet: StageWallet): Promise<void> {
  const nobody = new Address(0, Buffer.alloc(32, 0x71));
  const before = await stage.client.getBalance(nobody);
  const body = beginCell().storeUint(0x11223344, 32).storeUint(5, 64).endCell();
  await wallet.send(
    'a message that bounces from where nothing is',
    [{ to: nobody, value: toNano('1'), body }],
    (root) => {
      const said = expectOutcomes(root, [
        [wallet.address, 'ok'],
        [nobody, 'no-state, bounces'],
        [wallet.address, 'ok'],
      ]);
      const { message } = flatten(root)[2]!.incoming!;
      expectSame(true, message.info.type === 'internal' && message.info.bounced, 'whether it is a bounced one');
      expectSame('ffffffff11223344', message.body.beginParse().loadBuffer(8).toString('hex'), 'its body');
      return said;
    },
  );
  expectSame(`${before}`, `${await stage.client.getBalance(nobody)}`, 'balance of where nothing is');
  const plain = { to: nobody, value: toNano('1'), bounce: false };
  await wallet.send('a message that does not bounce', [plain], (root) => {
    const said = expectOutcomes(root, [
      [wallet.address, 'ok'],
      [nobody, 'no-state'],
    ]);
    expectSame(['non-existing', 'uninitialized'], statuses(root.children[0]!), 'its states');
    return said;
  });
  expectSame(`${toNano('1')}`, `${await stage.client.getBalance(nobody)}`, 'balance of it then');
}

function statuses({ transaction: { oldStatus, endStatus } }: LedgerTransaction): string[] {
  return [oldStatus, endStatus];
}

async function failures(wallet: StageWallet): Promise<void> {
  const throws = contractAddress(0, THROWS);
  const first = { to: throws, value: toNano('0.5'), init: THROWS };
  await wallet.send('a contract that throws 42, deployed by the message', [first], (root) => {
    const said = expectOutcomes(root, [
      [wallet.address, 'ok'],
      [throws, 'exit 42, bounces'],
      [wallet.address, 'ok'],
    ]);
    expectSame(true, valueIn(flatten(root)[2]!) > toNano('0.49'), 'that most coins come back');
    return said;
  });
  await wallet.send('a contract that throws 42, no bounce', [{ ...first, bounce: false }], (root) =>
    expectOutcomes(root, [
      [wallet.address, 'ok'],
      [throws, 'exit 42'],
    ]),
  );
  const loops = contractAddress(0, LOOPS);
  const endless = { to: loops, value: toNano('0.02'), init: LOOPS, bounce: false };
  await wallet.send('a contract that runs out of gas', [endless], (root) => {
    const said = expectOutcomes(root, [
      [wallet.address, 'ok'],
      [loops, 'exit -14'],
    ]);
    const { description } = root.children[0]!.transaction;
    if (description.type !== 'generic' || description.computePhase.type !== 'vm') throw new Error('it did not run');
    const { gasUsed, gasLimit } = description.computePhase;
    expectSame(`${gasLimit}`, `${gasUsed}`, 'that it used all gas it had');
    return `${said}; ${gasUsed} of ${gasLimit} gas`;
  });
  const value = toNano('10000000');
  await wallet.send('more coins than there are, errors ignored', [{ to: throws, value }], (root) => {
    const { description } = root.transaction;
    const skipped = description.type === 'generic' ? description.actionPhase?.skippedActions : null;
    expectSame(1, skipped ?? null, 'actions that were skipped');
    return expectOutcomes(root, [[wallet.address, 'ok']]);
  });
}

async function masterchain(stage: Stage, wallet: StageWallet): Promise<void> {
  const there = await stage.funded('v3r2', 0, -1);
  await wallet.send('a message to the masterchain', [{ to: there.address, value: toNano('2'), body: 'up' }], (root) =>
    expectOutcomes(root, [
      [wallet.address, 'ok'],
      [there.address, 'ok'],
    ]),
  );
  await there.send('and back', [{ to: wallet.address, value: toNano('1'), body: 'down' }], (root) =>
    expectOutcomes(root, [
      [there.address, 'ok'],
      [wallet.address, 'ok'],
    ]),
  );
  await extraCurrency(stage, wallet, there);
}

/** Currencies that the first block made, for a wallet of the masterchain. */
async function extraCurrency(stage: Stage, wallet: StageWallet, minter: StageWallet): Promise<void> {
  const amounts = { 239: 1_000_000n, 4294967279: 7n };
  const transfer = { to: wallet.address, value: toNano('0.3'), extracurrency: amounts };
  await minter.send('extra currencies', [transfer], (root) => {
    const said = expectOutcomes(root, [
      [minter.address, 'ok'],
      [wallet.address, 'ok'],
    ]);
    const { info } = root.children[0]!.incoming!.message;
    const came = info.type === 'internal' ? info.value.other : null;
    expectSame('1000000 7', `${came?.get(239)} ${came?.get(4294967279)}`, 'amounts');
    return said;
  });
  const state = await stage.v3.row('accountStates', 'accounts', { address: wallet.address.toString() });
  expectSame({ 239: '1000000', 4294967279: '7' }, state.extra_currencies, 'extra currencies in API v3');
}
