import type { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardAccount } from '#formats/tlb/shard-account.js';
import type { BlockAccount } from '#localnet/producer/block-accounts.js';

/**
 * How many nanotons vanished in an account during a block: what it had and received, less what it has, sent and paid. At
 * the address where coins are destroyed (parameter 5) that is all it is sent, elsewhere nothing.
 */
export function vanishedCoins({ before, current, transactions }: BlockAccount): bigint {
  let vanished = gramsOf(decodeCell(ShardAccount, before).account.value);
  vanished -= gramsOf(decodeCell(ShardAccount, current).account.value);
  for (const { value } of transactions) {
    const received = value.in_msg?.value.info;
    if (received?.kind === 'int_msg_info') vanished += received.value.grams;
    vanished -= value.total_fees.grams;
    for (const [, { value: sent }] of value.out_msgs)
      if (sent.info.kind === 'int_msg_info') vanished -= sent.info.value.grams + sent.info.fwd_fee;
  }
  return vanished;
}

function gramsOf(account: Account): bigint {
  return account.kind === 'account' ? account.storage.balance.grams : 0n;
}
