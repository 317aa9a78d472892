import { setTimeout as delay } from 'node:timers/promises';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { GasLimitsPrices, MsgForwardPrices } from '#formats/tlb/config/limits-and-prices.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import type { CheckReport } from '../check-report.js';
import { expectSame } from '../same-answer.js';
import type { JsonObject, TonlibSession } from '../tonlib-session.js';
import type { LocalNetwork } from './local-network.js';
import { ask, TonlibWallet } from './tonlib-wallet.js';

/** Transfers of each wallet before and after each change of the network. */
const TRANSFERS = 2;
/** Nanotons. */
const AMOUNT = 50_000_000n;
const GAS_PRICES = 21;
const FORWARD_PRICES = 25;
const WHOLE = '8000000000000000';
const LEFT = '4000000000000000';
const MERGED_MS = 60_000;

/** What is done to a network while clients follow it: transfers all the time, new prices, a split, a merge, time. */
export async function changeNetwork(network: LocalNetwork, tonlib: TonlibSession, report: CheckReport): Promise<void> {
  const known = (await network.wallets()).filter(TonlibWallet.knows);
  const wallets: TonlibWallet[] = [];
  for (const wallet of known) wallets.push(await TonlibWallet.open(tonlib, wallet));
  const transfers = (when: string) => report.check(`tonlib: transfers ${when}`, () => sendAll(wallets));
  await transfers('to wallets, at first');
  await report.check('tonlib: another price of gas', async () => {
    const prices = decodeCell(GasLimitsPrices, await configParam(tonlib, GAS_PRICES));
    const cell = encodeCell(GasLimitsPrices, doubled(prices));
    return setParam(network, tonlib, GAS_PRICES, toBase64(serializeBoc(cell)));
  });
  await transfers('at twice the price of gas');
  await report.check('a split', async () => {
    const { block } = await network.control('shards/split', { shard: WHOLE });
    return `in block ${(block as JsonObject).seqno}`;
  });
  await transfers('between shards');
  await report.check('tonlib: another price of messages', async () => {
    const prices = decodeCell(MsgForwardPrices, await configParam(tonlib, FORWARD_PRICES));
    const cell = encodeCell(MsgForwardPrices, { ...prices, lump_price: prices.lump_price * 3n });
    return setParam(network, tonlib, FORWARD_PRICES, toBase64(serializeBoc(cell)));
  });
  await transfers('at three times the price of messages');
  await report.check('a merge', () => merge(network));
  await transfers('after the merge');
  await report.check('tonlib: a day later', async () => {
    await network.control('time', { advance: 86_400 });
    const now = (await network.status()).gen_utime as number;
    const { sync_utime } = await ask(tonlib, { '@type': 'getAccountState', account_address: wallets[0]!.address });
    if ((sync_utime as number) < now) throw new Error(`tonlib is at ${sync_utime}, the network at ${now}`);
    return `${sync_utime}`;
  });
}

async function sendAll(wallets: readonly TonlibWallet[]): Promise<string> {
  let spent = 0;
  const send = async (wallet: TonlibWallet, i: number): Promise<void> => {
    for (let n = 1; n <= TRANSFERS; n++) {
      const to = wallets[(i + n) % wallets.length]!.address.account_address as string;
      const { transactions } = await wallet.transfer(to, AMOUNT, `transfer ${n} of wallet ${i}`);
      for (const { fee } of transactions) spent += Number(fee);
    }
  };
  await Promise.all(wallets.map(send));
  return `${wallets.length * TRANSFERS}, which cost what was estimated, ${spent} nanotons with storage`;
}

async function configParam(tonlib: TonlibSession, param: number) {
  const { config } = await ask(tonlib, { '@type': 'getConfigParam', mode: 0, param });
  return parseBocRoot(fromBase64((config as JsonObject).bytes as string)!);
}

/** Prices in which a unit of gas, and the flat part, cost twice as much. */
function doubled(prices: GasLimitsPrices): GasLimitsPrices {
  return prices.kind === 'gas_flat_pfx'
    ? { ...prices, flat_gas_price: prices.flat_gas_price * 2n, other: doubled(prices.other) }
    : { ...prices, gas_price: prices.gas_price * 2n };
}

async function setParam(network: LocalNetwork, tonlib: TonlibSession, param: number, value: string): Promise<string> {
  const { block } = await network.control('config', { param, value });
  const { seqno } = block as JsonObject;
  expectSame(value, toBase64(serializeBoc(await configParam(tonlib, param))), `parameter ${param}`);
  return `parameter ${param} in block ${seqno}`;
}

/** By command, unless the shards have merged by themselves, for want of load. */
async function merge(network: LocalNetwork): Promise<string> {
  const shards = async (): Promise<number> => ((await network.status()).shards as readonly JsonObject[]).length;
  const refusal = await network.control('shards/merge', { shard: LEFT }).then(
    () => null,
    (error: Error) => error,
  );
  for (const until = Date.now() + MERGED_MS; (await shards()) > 1; await delay(200)) {
    if (Date.now() > until) throw refusal ?? new Error('there are two shards although they have been merged');
  }
  return refusal === null ? 'by command' : 'by itself';
}
