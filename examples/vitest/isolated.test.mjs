// npx vitest run --root examples/vitest: twenty tests on one network, each of which begins with the same state.
import { Address, internal, toNano } from '@ton/core';
import { mnemonicToPrivateKey } from '@ton/crypto';
import { TonClient, WalletContractV4 } from '@ton/ton';
import { createNetwork } from 'tern-ton/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

let network;
let client;
let wallet;
let secretKey;
let start;

beforeAll(async () => {
  network = await createNetwork();
  client = new TonClient({ endpoint: network.endpoint });
  const { mnemonic } = (await network.wallets()).find(({ version }) => version === 'v4r2');
  const keys = await mnemonicToPrivateKey([...mnemonic]);
  secretKey = keys.secretKey;
  wallet = client.open(WalletContractV4.create({ workchain: 0, publicKey: keys.publicKey }));
  start = await network.snapshot();
});
beforeEach(() => network.revert(start));
afterAll(() => network.stop());

/** Sends coins from the wallet, and waits until it has sent them. */
async function send(to, value) {
  const seqno = await wallet.getSeqno();
  // By the time of the network, which tests may have moved.
  const timeout = (await network.now()) + 60;
  await wallet.sendTransfer({ seqno, secretKey, timeout, messages: [internal({ to, value, bounce: false })] });
  await expect.poll(() => wallet.getSeqno(), { interval: 5, timeout: 30_000 }).toBe(seqno + 1);
}

const receiver = Address.parse('0:1212121212121212121212121212121212121212121212121212121212121212');

for (let number = 1; number <= 20; number++) {
  it(`test ${number} sees nothing of the others`, async () => {
    expect(await wallet.getSeqno()).toBe(0);
    expect(await client.isContractDeployed(wallet.address)).toBe(true);
    await network.advanceTime(3_600);
    await send(receiver, toNano(number));
    // The receiver of a transfer pays for its storage, so it has a little less.
    await expect
      .poll(async () => Math.round(Number(await client.getBalance(receiver)) / 1e9), { interval: 5, timeout: 30_000 })
      .toBe(number);
  });
}
