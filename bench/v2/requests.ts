import { readWallet } from '#domain/contracts/wallet.js';
import { toHex } from '#kernel/bytes.js';
import { chainTruth } from '../../scripts/interop/chain-truth.js';
import { type BlockFacts, transactionsByAccount } from '../../test/support/chain-facts.js';
import { RECORDED_ZEROSTATES } from '../../test/support/states-of-chain.js';
import type { HttpCall } from './keep-alive-client.js';

/** As many different ones as the reference was measured with. */
const ACCOUNTS = 50;
const HISTORIES = 20;
const WALLETS = 20;
const HISTORY = 10;
/** Transactions of the block that is listed. */
const LISTED = 15;

/** The requests that the reference service was measured with, on accounts and blocks of this chain. */
export function v2Requests(folder: string): Readonly<Record<string, readonly HttpCall[]>> {
  const truth = chainTruth(folder, RECORDED_ZEROSTATES);
  const active: string[] = [];
  const wallets: string[] = [];
  for (const { id, state } of truth.states) {
    for (const [key, { account }] of state.accounts.value) {
      const { value } = account;
      if (value.kind !== 'account' || value.storage.state.kind !== 'account_active') continue;
      const address = `${id.workchain}:${toHex(key)}`;
      active.push(address);
      const { code, data } = value.storage.state.state_init;
      if (readWallet(code, data) !== null) wallets.push(address);
    }
  }
  const histories = [
    ...transactionsByAccount({ masterchain: [truth.head, ...truth.masterchain], shards: truth.shards }),
  ]
    .filter(([address, list]) => address.startsWith('0:') && list.length >= HISTORY)
    .map(([address]) => address);
  const { id } = closest(truth.shards, LISTED);
  const at = `workchain=${id.workchain}&shard=${BigInt.asIntN(64, id.shard)}&seqno=${id.seqno}`;
  return {
    getMasterchainInfo: [{ path: '/api/v2/getMasterchainInfo' }],
    getAddressInformation: active
      .slice(0, ACCOUNTS)
      .map((address) => ({ path: `/api/v2/getAddressInformation?address=${address}` })),
    'getTransactions(10)': histories
      .slice(0, HISTORIES)
      .map((address) => ({ path: `/api/v2/getTransactions?address=${address}&limit=${HISTORY}` })),
    'runGetMethod(seqno)': wallets.slice(0, WALLETS).map((address) => ({
      path: '/api/v2/runGetMethod',
      body: JSON.stringify({ address, method: 'seqno', stack: [] }),
    })),
    getBlockTransactionsExt: [{ path: `/api/v2/getBlockTransactionsExt?${at}` }],
  };
}

/** The block whose number of transactions is closest to one wanted. */
function closest(blocks: readonly BlockFacts[], wanted: number): BlockFacts {
  const far = ({ transactions }: BlockFacts): number => Math.abs(transactions.length - wanted);
  return blocks.reduce((best, block) => (far(block) < far(best) ? block : best));
}
