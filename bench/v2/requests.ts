import { readWallet } from '#domain/contracts/wallet.js';
import { sameBlock } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import { type ChainTruth, chainTruth } from '../../scripts/interop/chain-truth.js';
import { type BlockFacts, type TransactionFacts, transactionsByAccount } from '../../test/support/chain-facts.js';
import { RECORDED_ZEROSTATES } from '../../test/support/states-of-chain.js';
import type { HttpCall } from './keep-alive-client.js';

/** As many different ones as the reference was measured with. */
const ACCOUNTS = 50;
const HISTORIES = 20;
const WALLETS = 20;
const HISTORY = 10;
/** Transactions of the block that is listed. */
const LISTED = 15;

/** Of a chain that goes on: accounts, those that are touched later first, and of how many transactions a history has at least. */
const MOVING_ACCOUNTS = 300;
const MOVING_HISTORY = 5;
const MOVING_BLOCKS = 20;

/** The requests that the reference service was measured with, on accounts and blocks of this chain. */
export function v2Requests(folder: string): Readonly<Record<string, readonly HttpCall[]>> {
  const truth = chainTruth(folder, RECORDED_ZEROSTATES);
  const { active, wallets } = activeAccounts(truth);
  const histories = [
    ...transactionsByAccount({ masterchain: [truth.head, ...truth.masterchain], shards: truth.shards }),
  ]
    .filter(([address, list]) => address.startsWith('0:') && list.length >= HISTORY)
    .map(([address]) => address);
  return requestsOf({
    accounts: active.slice(0, ACCOUNTS),
    histories: histories.slice(0, HISTORIES),
    wallets: wallets.slice(0, WALLETS),
    blocks: closest(truth.shards, LISTED).slice(0, 1),
  });
}

/** The same requests while this chain goes on from a block: on accounts and blocks before it. */
export function movingRequests(folder: string, from: number): Readonly<Record<string, readonly HttpCall[]>> {
  const truth = chainTruth(folder, RECORDED_ZEROSTATES);
  const before = shardBlocksUpTo(truth, from);
  const counts = new Map<string, number>();
  for (const { account } of before.flatMap(({ transactions }) => transactions)) {
    counts.set(account, (counts.get(account) ?? 0) + 1);
  }
  const later = new Set(truth.shards.slice(before.length).flatMap(({ transactions }) => transactions.map(accountOf)));
  const known = [...counts.keys()];
  const accounts = [...known.filter((each) => later.has(each)), ...known.filter((each) => !later.has(each))];
  const wallets = new Set(activeAccounts(truth).wallets);
  return requestsOf({
    accounts: accounts.slice(0, MOVING_ACCOUNTS),
    histories: accounts.filter((each) => counts.get(each)! >= MOVING_HISTORY).slice(0, MOVING_ACCOUNTS),
    wallets: accounts.filter((each) => wallets.has(each)).slice(0, MOVING_ACCOUNTS),
    blocks: closest(before, LISTED).slice(0, MOVING_BLOCKS),
  });
}

interface Asked {
  readonly accounts: readonly string[];
  readonly histories: readonly string[];
  readonly wallets: readonly string[];
  readonly blocks: readonly BlockFacts[];
}

function requestsOf({ accounts, histories, wallets, blocks }: Asked): Readonly<Record<string, readonly HttpCall[]>> {
  return {
    getMasterchainInfo: [{ path: '/api/v2/getMasterchainInfo' }],
    getAddressInformation: accounts.map((address) => ({ path: `/api/v2/getAddressInformation?address=${address}` })),
    'getTransactions(10)': histories.map((address) => ({
      path: `/api/v2/getTransactions?address=${address}&limit=${HISTORY}`,
    })),
    'runGetMethod(seqno)': wallets.map((address) => ({
      path: '/api/v2/runGetMethod',
      body: JSON.stringify({ address, method: 'seqno', stack: [] }),
    })),
    getBlockTransactionsExt: blocks.map(({ id }) => {
      const at = `workchain=${id.workchain}&shard=${BigInt.asIntN(64, id.shard)}&seqno=${id.seqno}`;
      return { path: `/api/v2/getBlockTransactionsExt?${at}` };
    }),
  };
}

/** Of the last states, and which of them are wallets. */
function activeAccounts({ states }: ChainTruth): { readonly active: string[]; readonly wallets: string[] } {
  const active: string[] = [];
  const wallets: string[] = [];
  for (const { id, state } of states) {
    for (const [key, { account }] of state.accounts.value) {
      const { value } = account;
      if (value.kind !== 'account' || value.storage.state.kind !== 'account_active') continue;
      const address = `${id.workchain}:${toHex(key)}`;
      active.push(address);
      const { code, data } = value.storage.state.state_init;
      if (readWallet(code, data) !== null) wallets.push(address);
    }
  }
  return { active, wallets };
}

/** Those that a masterchain block or an earlier one commits. */
function shardBlocksUpTo({ masterchain, shards }: ChainTruth, seqno: number): readonly BlockFacts[] {
  const { tops } = masterchain[seqno - 1]!;
  const last = shards.findLastIndex(({ id }) => tops.some((top) => sameBlock(top, id)));
  return shards.slice(0, last + 1);
}

function accountOf({ account }: TransactionFacts): string {
  return account;
}

/** The blocks whose number of transactions is closest to one wanted first. */
function closest(blocks: readonly BlockFacts[], wanted: number): readonly BlockFacts[] {
  const far = ({ transactions }: BlockFacts): number => Math.abs(transactions.length - wanted);
  return blocks.toSorted((a, b) => far(a) - far(b));
}
