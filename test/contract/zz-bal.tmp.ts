import { readFileSync } from 'node:fs';
import { parseAddress } from '#formats/address/parse-address.js';
import { replayedChain } from '#test/support/replayed-chain.js';
const { chain } = replayedChain('/work/shared/data/recorded-net/chain');
for (const a of readFileSync('/tmp/fee-addrs.txt', 'utf8').split('\n')) {
  const r = await chain.account(parseAddress(a).address, { at: 1219 });
  const acc: any = r.account;
  console.log(a, acc?.kind, acc?.storage?.balance.grams, acc?.storage?.state.kind, r.shard_utime);
}
