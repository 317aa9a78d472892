// node examples/send.mjs [URL]: makes a wallet on a local network (npm start), sends coins from it, and shows what happened.
import { setTimeout as delay } from 'node:timers/promises';
import { internal, toNano } from '@ton/core';
import { mnemonicNew, mnemonicToPrivateKey } from '@ton/crypto';
import { TonClient, WalletContractV5R1 } from '@ton/ton';

const url = process.argv[2] ?? 'http://127.0.0.1:8081';
const client = new TonClient({ endpoint: `${url}/api/v2/jsonRPC` });

// 1. A new wallet: 24 words, from which its key and its address follow. Nothing is on the chain yet.
const words = await mnemonicNew();
const { publicKey, secretKey } = await mnemonicToPrivateKey(words);
const wallet = client.open(WalletContractV5R1.create({ publicKey }));
console.log(`wallet     ${wallet.address.toString({ bounceable: false })}`);

// 2. Coins from the faucet. When it answers they are in a block.
const faucet = await fetch(`${url}/localnet/faucet`, {
  method: 'POST',
  body: JSON.stringify({ address: wallet.address.toString(), amount: String(toNano('5')) }),
});
if (!faucet.ok) throw new Error(`the faucet refuses: ${await faucet.text()}`);
console.log(`balance    ${await wallet.getBalance()} nanotons`);

// 3. A transfer with a comment to one of the wallets that every local network has. The first one deploys the wallet, too.
const { wallets } = await (await fetch(`${url}/localnet/wallets`)).json();
const { user_friendly: receiver } = wallets.find(({ version }) => version === 'v4r2');
const seqno = await wallet.getSeqno();
await wallet.sendTransfer({
  seqno,
  secretKey,
  messages: [internal({ to: receiver, value: toNano('1.5'), body: 'hello' })],
  sendMode: 3,
});
console.log(`sent       1.5 TON to ${receiver}`);
while ((await wallet.getSeqno()) === seqno) await delay(200);

// 4. All that followed from it: a trace, over API v3, once its last message has arrived.
let trace;
do {
  await delay(200);
  const response = await fetch(`${url}/api/v3/traces?account=${wallet.address.toRawString()}&sort=desc&limit=1`);
  [trace] = (await response.json()).traces;
} while (trace?.external_hash === undefined || trace.trace_info.trace_state !== 'complete');
console.log(`trace      ${url}/api/v3/traces?trace_id=${encodeURIComponent(trace.trace_id)}`);
print(trace.trace, 0);

function print({ tx_hash, children }, depth) {
  const { account, in_msg, total_fees, description } = trace.transactions[tx_hash];
  const value = in_msg.value === null || in_msg.value === undefined ? 'from outside' : `${in_msg.value} nanotons`;
  const comment = in_msg.message_content?.decoded?.comment;
  const went = description.aborted ? 'aborted' : 'ok';
  console.log(
    `${'  '.repeat(depth)}- ${account} took a message (${value}${comment ? `, "${comment}"` : ''}): ${went}, fees ${total_fees}`,
  );
  for (const child of children) print(child, depth + 1);
}
