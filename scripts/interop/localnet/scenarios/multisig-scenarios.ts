import {
  Address,
  beginCell,
  Cell,
  contractAddress,
  Dictionary,
  internal,
  SendMode,
  type StateInit,
  storeMessageRelaxed,
  toNano,
} from '@ton/core';
import { expectSame } from '../../same-answer.js';
import { localnetCode } from './contract-codes.js';
import type { Ledger } from './ledger.js';
import { expectOutcomes, valueIn } from './outcome.js';
import { type Stage, StageWallet } from './stage.js';

/** SETCP0; DROP; LDREF; DROP; 2 PUSHINT; SETLIBCODE: makes what a message brings a public library */
const PUBLISHER = 'ff0030d43072fb06';
const NEW_ORDER = 0xf718510f;
const SEND_MESSAGE = 0xf1381e5b;
const APPROVE = 0xa762230f;
/** The next order, whichever it is. */
const ANY_ORDER = (1n << 256n) - 1n;

/**
 * A multisig (v2), whose orders have code that is a library of the masterchain: it is published first.
 *
 * @returns what compares the tables in API v3 with the accounts
 */
export async function multisigScenarios(stage: Stage): Promise<(ledger: Ledger) => Promise<string>> {
  const first = await stage.funded('v3r2', 0);
  const second = new StageWallet(stage, 'v4r2', (await stage.funded('v5r1', 0)).keys);
  await stage.fund(second.address, toNano('20'));
  const orderCode = localnetCode('multisig-order');
  await publishLibrary(stage, second, orderCode);

  const signers = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Address());
  signers.set(0, first.address).set(1, second.address);
  const data = beginCell().storeUint(0, 256).storeUint(2, 8);
  data.storeRef(beginCell().storeDictDirect(signers).endCell()).storeUint(2, 8).storeDict(null).storeBit(false);
  const init: StateInit = { code: localnetCode('multisig'), data: data.endCell() };
  const multisig = contractAddress(0, init);
  const deposit = { to: multisig, value: toNano('3'), init, bounce: false };
  await first.send('multisig: deployed', [deposit], (root) =>
    expectOutcomes(root, [
      [first.address, 'ok'],
      [multisig, 'ok'],
    ]),
  );
  const { stack } = await stage.client.runMethod(multisig, 'get_order_address', [{ type: 'int', value: 0n }]);
  const order = stack.readAddress();
  const beneficiary = new Address(0, Buffer.alloc(32, 0x5b));
  const payment = internal({ to: beneficiary, value: toNano('1.25'), bounce: false, body: 'by order' });
  const actions = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Cell());
  const message = beginCell().store(storeMessageRelaxed(payment)).endCell();
  const mode = SendMode.PAY_GAS_SEPARATELY;
  actions.set(0, beginCell().storeUint(SEND_MESSAGE, 32).storeUint(mode, 8).storeRef(message).endCell());
  const expires = ((await stage.network.status()).gen_utime as number) + 3600;
  const newOrder = beginCell().storeUint(NEW_ORDER, 32).storeUint(1, 64).storeUint(ANY_ORDER, 256).storeBit(true);
  newOrder.storeUint(0, 8).storeUint(expires, 48).storeRef(beginCell().storeDictDirect(actions).endCell());
  await first.send(
    'multisig: an order, approved by who makes it',
    [{ to: multisig, value: toNano('1'), body: newOrder.endCell() }],
    (root) => {
      expectSame('active', root.children[0]?.children[0]?.transaction.endStatus ?? null, 'state of the order');
      return expectOutcomes(root, [
        [first.address, 'ok'],
        [multisig, 'ok'],
        [order, 'ok'],
      ]);
    },
  );
  const approval = beginCell().storeUint(APPROVE, 32).storeUint(2, 64).storeUint(1, 8).endCell();
  await second.send(
    'multisig: approved by the other, executed',
    [{ to: order, value: toNano('0.5'), body: approval }],
    (root) => {
      const all = root.children[0]!.children;
      const paid = all.flatMap(({ children }) => children).find(({ account }) => account.endsWith('5B5B'));
      if (paid === undefined) throw new Error('nothing was paid');
      expectSame(`${toNano('1.25')}`, `${valueIn(paid)}`, 'what was paid');
      return `${all.length} messages of the order, one of them executes it`;
    },
  );
  return async (ledger) => {
    const rawOf = (each: Address) => each.toRawString().toUpperCase();
    const row = await stage.v3.row('multisig/wallets', 'multisigs', {
      address: multisig.toString(),
      include_orders: 'true',
    });
    expectSame(
      [[rawOf(first.address), rawOf(second.address)], 2, '1'],
      [row.signers, row.threshold, row.next_order_seqno] as never,
      'the multisig',
    );
    const table = await stage.v3.row('multisig/orders', 'orders', { address: order.toString() });
    expectSame(
      [true, rawOf(multisig), 2],
      [table.sent_for_execution, table.multisig_address, table.approvals_num] as never,
      'the order',
    );
    expectSame(true, ledger.libraries().includes(orderCode.hash().toString('hex')), 'that its code is a library');
    return 'order 0 of threshold 2 executed, its code a library';
  };
}

async function publishLibrary(stage: Stage, wallet: StageWallet, library: Cell): Promise<void> {
  const code = beginCell().storeBuffer(Buffer.from(PUBLISHER, 'hex')).endCell();
  const init: StateInit = { code, data: beginCell().storeUint(0x7e12, 32).endCell() };
  const publisher = contractAddress(-1, init);
  const body = beginCell().storeRef(library).endCell();
  await wallet.send(
    'a library, published in the masterchain',
    [{ to: publisher, value: toNano('10'), init, body }],
    (root) =>
      expectOutcomes(root, [
        [wallet.address, 'ok'],
        [publisher, 'ok'],
      ]),
  );
  const hash = library.hash().toString('hex');
  const found = await fetch(`${stage.network.url}/api/v2/getLibraries?libraries=${hash}`);
  const { result } = (await found.json()) as { result: { result: readonly { data: string }[] } };
  expectSame(hash, Cell.fromBase64(result.result[0]!.data).hash().toString('hex'), 'the library over API v2');
}
