import {
  Address,
  beginCell,
  type Cell,
  contractAddress,
  internal,
  type OutActionSendMsg,
  SendMode,
  storeMessageRelaxed,
  storeOutList,
  toNano,
} from '@ton/core';
import { mnemonicNew, mnemonicToPrivateKey, sign } from '@ton/crypto';
import { expectSame } from '../../same-answer.js';
import { highloadCode } from './contract-codes.js';
import { flatten } from './ledger.js';
import { outcome, valueIn } from './outcome.js';
import type { Stage } from './stage.js';

const INTERNAL_TRANSFER = 0xae42e5a4;
const SUBWALLET = 0x10ad;
const TIMEOUT_S = 3600;
const BATCH = 200;

/** A highload wallet (v3) that sends 200 messages with an external-in message. */
export async function highloadScenarios(stage: Stage): Promise<null> {
  const { publicKey, secretKey } = await mnemonicToPrivateKey(await mnemonicNew());
  const data = beginCell().storeBuffer(publicKey).storeUint(SUBWALLET, 32).storeDict(null).storeDict(null);
  const init = { code: highloadCode(), data: data.storeUint(0, 64).storeUint(TIMEOUT_S, 22).endCell() };
  const address = contractAddress(0, init);
  await stage.fund(address, toNano('20'));
  const to = Array.from({ length: BATCH }, (_, i) => new Address(0, Buffer.alloc(32, 0x91).fill(i, 31)));
  const value = toNano('0.01');
  const actions = to.map(
    (each, i): OutActionSendMsg => ({
      type: 'sendMsg',
      mode: SendMode.PAY_GAS_SEPARATELY,
      outMsg: internal({ to: each, value: value + BigInt(i), bounce: false }),
    }),
  );
  const list = beginCell().store(storeOutList(actions)).endCell();
  const batch = beginCell().storeUint(INTERNAL_TRANSFER, 32).storeUint(1, 64).storeRef(list).endCell();
  const message = beginCell().store(storeMessageRelaxed(internal({ to: address, value: toNano('1'), body: batch })));
  const createdAt = ((await stage.network.status()).gen_utime as number) - 5;
  const signed = beginCell().storeUint(SUBWALLET, 32).storeRef(message.endCell());
  signed.storeUint(SendMode.PAY_GAS_SEPARATELY, 8).storeUint(1, 23).storeUint(createdAt, 64).storeUint(TIMEOUT_S, 22);
  const body = signedBody(signed.endCell(), secretKey);
  await stage.send(`highload v3: ${BATCH} messages at once`, { address, init }, body, (root) => {
    const all = flatten(root);
    expectSame(2 + BATCH, all.length, 'transactions');
    const [self, ...others] = root.children.concat(root.children[0]!.children);
    expectSame(['ok', 'ok'], [outcome(root), outcome(self!)], 'outcomes of the wallet');
    expectSame(
      to.map((each, i) => `${each.toRawString()} ${value + BigInt(i)} no-state`.toLowerCase()),
      others.map((each) => `${each.account} ${valueIn(each)} ${outcome(each)}`.toLowerCase()),
      'who got what',
    );
    return `${all.length} transactions`;
  });
  return null;
}

function signedBody(cell: Cell, secretKey: Buffer): Cell {
  return beginCell().storeBuffer(sign(cell.hash(), secretKey)).storeRef(cell).endCell();
}
