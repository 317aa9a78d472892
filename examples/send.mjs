// node examples/send.mjs [URL]: creates a wallet on a local network (npm start), sends coins from it, and prints the resulting trace.
import { setTimeout as delay } from 'node:timers/promises';
import { internal, toNano } from '@ton/core';
import { mnemonicNew, mnemonicToPrivateKey } from '@ton/crypto';
import { TonClient, WalletContractV5R1 } from '@ton/ton';

const url = process.argv[2] ?? 'http://127.0.0.1:8081';
const client = new TonClient({ endpoint: `${url}/api/v2/jsonRPC` });

// 1. Create a wallet from a new mnemonic of 24 words. Nothing is on the chain yet.
const mnemonic = await mnemonicNew();
const { publicKey, secretKey } = await mnemonicToPrivateKey(mnemonic);
const wallet = client.open(WalletContractV5R1.create({ publicKey }));
console.log(`wallet     ${wallet.address.toString({ bounceable: false })}`);

// 2. Request coins from the faucet. When it responds, they are in a block.
const faucet = await fetch(`${url}/localnet/faucet`, {
  method: 'POST',
  body: JSON.stringify({ address: wallet.address.toString(), amount: String(toNano('5')) }),
});
if (!faucet.ok) throw new Error(`the faucet refused: ${await faucet.text()}`);
console.log(`balance    ${await wallet.getBalance()} nanotons`);

// 3. Send a transfer with a comment to a wallet that exists in every local network. The first transfer also deploys the wallet.
const { wallets } = await (await fetch(`${url}/localnet/wallets`)).json();
const { user_friendly: receiver } = wallets.find(({ version }) => version === 'v4r2');
//    The message is valid for a minute by the time of the network, which may be ahead of that of this computer.
const { now } = await (await fetch(`${url}/localnet/status`)).json();
const seqno = await wallet.getSeqno();
await wallet.sendTransfer({
  seqno,
  timeout: now + 60,
  secretKey,
  messages: [internal({ to: receiver, value: toNano('1.5'), body: 'hello' })],
  sendMode: 3,
});
console.log(`sent       1.5 TON to ${receiver}`);
while ((await wallet.getSeqno()) === seqno) await delay(200);

// 4. Read the trace of the transfer from API v3, once its last message has arrived. The index follows the chain: for a moment the
//    newest trace of the wallet is still that of the faucet, which does not begin with the wallet.
const account = wallet.address.toRawString().toUpperCase();
let trace;
do {
  await delay(200);
  const response = await fetch(`${url}/api/v3/traces?account=${account}&sort=desc&limit=1`);
  [trace] = (await response.json()).traces;
} while (trace?.transactions[trace.trace.tx_hash]?.account !== account || trace.trace_info.trace_state !== 'complete');
console.log(`trace      ${url}/api/v3/traces?trace_id=${encodeURIComponent(trace.trace_id)}`);
print(trace.trace, 0);

function print({ tx_hash, children }, depth) {
  const { account, in_msg, total_fees, description } = trace.transactions[tx_hash];
  const value = in_msg.value === null || in_msg.value === undefined ? 'external-in' : `${in_msg.value} nanotons`;
  const comment = in_msg.message_content?.decoded?.comment;
  const result = description.aborted ? 'aborted' : 'ok';
  console.log(
    `${'  '.repeat(depth)}- ${account} received a message (${value}${comment ? `, "${comment}"` : ''}): ${result}, fees ${total_fees}`,
  );
  for (const child of children) print(child, depth + 1);
}
