import { existsSync, readFileSync } from 'node:fs';
import { Address, beginCell, Cell, contractAddress, Dictionary, type StateInit, toNano } from '@ton/core';
import { vectorPath } from '#test/support/vector-files.js';
import type { LocalNetwork } from '../localnet/local-network.js';
import { answer, runGetMethod, type StackEntry } from './newcomer-checks.js';

/** What scenarios do not make: a vesting contract, pools, a domain, and a trace of thousands of transactions. */
export interface Contents {
  /** That of the scenario, whose order was executed, then that of the seed. */
  readonly multisigs: readonly string[];
  readonly vesting: string;
  /** By the heading of the page. */
  readonly pools: Readonly<Record<string, string>>;
  readonly domain: string;
  /** The trace id in base64. */
  readonly longTrace: string;
}

const LEVELS = 10;

/** Transactions of the long trace. */
export const LONG_TRACE = 2 ** (LEVELS + 1) - 1;

/** Puts contracts of mainnet at addresses of their own, with their code and data, and runs what makes the long trace. */
export async function addContents(network: LocalNetwork): Promise<Contents> {
  await network.control('seed');
  const [vesting, ...places] = await Promise.all([
    placed(network, vestingInit()),
    ...POOLS.map(([, path]) => placed(network, poolInit(path))),
  ]);
  const pools = Object.fromEntries(POOLS.map(([heading], index) => [heading, places[index]!]));
  await nominate(network, pools['Nominator pool']!);
  const longTrace = await spread(network);
  await found('the vesting contract', async () => {
    const query = `contract_address=${vesting}`;
    const { vesting_contracts } = await answer<{ readonly vesting_contracts: readonly unknown[] }>(
      network.url,
      `/api/v3/vesting?${query}`,
    );
    return vesting_contracts[0];
  });
  return { multisigs: await multisigsOf(network), vesting, pools, domain: 'example.ton', longTrace };
}

/** The multisigs that the first wallet v3r2 signs for. API v3 lists them by an address only. */
async function multisigsOf(network: LocalNetwork): Promise<readonly string[]> {
  const signer = (await network.wallets()).find(({ version }) => version === 'v3r2')!.address;
  interface Row {
    readonly address: string;
    readonly orders: readonly { readonly sent_for_execution: boolean }[];
  }
  const isExecuted = ({ orders }: Row) => orders.some((order) => order.sent_for_execution);
  const rows = await found('two multisigs', async () => {
    const path = `/api/v3/multisig/wallets?wallet_address=${signer}&include_orders=true`;
    const { multisigs } = await answer<{ readonly multisigs: readonly Row[] }>(network.url, path);
    return multisigs.length === 2 && multisigs.some(isExecuted) ? multisigs : undefined;
  });
  return rows.toSorted((a, b) => Number(isExecuted(b)) - Number(isExecuted(a))).map(({ address }) => address);
}

const POOLS = [
  ['Nominator pool', 'nominator_pool/pool/testdata/NominatorPool'],
  ['Single nominator', 'single_nominator/v1_1/testdata/SingleNominatorV11'],
  ['Liquid staking pool', 'tonstakers/pool/testdata/TonstakersPool'],
  ['Nominator pool (Whales)', 'whales/pool/testdata/WhalesPool'],
] as const;

function cellOf(path: string): Cell {
  const file = vectorPath(`collection/contracts/${path}.boc`);
  if (!existsSync(file)) throw new Error(`there is no ${file}`);
  return Cell.fromBoc(readFileSync(file))[0]!;
}

function poolInit(path: string): StateInit {
  return { code: cellOf(path), data: cellOf(`${path}.data`) };
}

const account = (digit: string) => new Address(0, Buffer.from(digit.repeat(64), 'hex'));

/** 120,000.000000001 TON over a hundred days, of which some have gone. */
function vestingInit(): StateInit {
  const begin = Math.floor(Date.now() / 1000) - 25 * 86_400;
  const terms = beginCell()
    .storeUint(begin, 64)
    .storeUint(100 * 86_400, 32)
    .storeUint(86_400, 32);
  terms.storeUint(5 * 86_400, 32).storeCoins(toNano('120000.000000001'));
  terms.storeAddress(account('a')).storeAddress(account('b'));
  // By workchain and account id.
  const whitelist = Dictionary.empty(Dictionary.Keys.BigUint(264), Dictionary.Values.Bool());
  whitelist.set(BigInt(`0x${account('c').hash.toString('hex')}`), true);
  const data = beginCell().storeUint(0, 32).storeUint(7, 32).storeUint(9, 256).storeDict(whitelist);
  return {
    code: cellOf('wallets/wallet_vesting/testdata/WalletVesting'),
    data: data.storeRef(terms.endCell()).endCell(),
  };
}

/** Puts a contract on the chain, at an address that follows from its state or at another one. @returns the raw address */
export async function placed(
  network: LocalNetwork,
  init: StateInit,
  balance = toNano('1000'),
  at = contractAddress(0, init),
): Promise<string> {
  const address = at.toRawString();
  const [code, data] = [init.code!, init.data!].map((cell) => cell.toBoc().toString('base64'));
  await network.control('account', { address, balance: `${balance}`, code: code!, data: data! });
  return address;
}

/**
 * SETCP0; DROP; 32 LDU; DROP; DUP; IFNOTRET; DEC; 16 PUSHINT; NEWC; 6 STU; MYADDR; STSLICER; 23 PUSHPOW2; STGRAMS; 0 PUSHINT; SWAP;
 * 107 STU; 32 STU; ENDC; DUP; 1 PUSHINT; SENDRAWMSG; 1 PUSHINT; SENDRAWMSG: sends itself twice the number that it got, less one.
 */
const SPREADER = 'ff0030d31f3020dda58010c8cb05f828cf168316fa027001cb6acb1fc92071fb0071fb00';

/** Starts a binary tree of messages. @returns the id of its trace */
async function spread(network: LocalNetwork): Promise<string> {
  const code = beginCell().storeBuffer(Buffer.from(SPREADER, 'hex')).endCell();
  const address = await placed(network, { code, data: beginCell().storeUint(22, 32).endCell() });
  const body = beginCell().storeUint(LEVELS, 32).endCell().toBoc().toString('base64');
  await network.control('impersonate', { from: account('d').toRawString(), to: address, amount: '1000000000', body });
  // The last of its transactions: the whole trace would be megabytes at each look.
  const [last] = await found(`a trace of ${LONG_TRACE} transactions`, async () => {
    const query = `account=${address}&limit=1&offset=${LONG_TRACE - 1}&sort=asc`;
    const { transactions } = await answer<{ readonly transactions: readonly { readonly trace_id: string }[] }>(
      network.url,
      `/api/v3/transactions?${query}`,
    );
    return transactions.length > 0 ? transactions : undefined;
  });
  return last!.trace_id;
}

/** A nominator of the pool, which takes no more of them, puts 20,000 TON into it; the pool keeps one more. */
async function nominate(network: LocalNetwork, pool: string): Promise<void> {
  const [list] = await runGetMethod(network.url, pool, 'list_nominators');
  const [first] = list!.value as readonly { readonly value: readonly StackEntry[] }[];
  const from = `0:${BigInt(first!.value[0]!.value as string)
    .toString(16)
    .padStart(64, '0')}`;
  const body = beginCell().storeUint(0, 32).storeStringTail('d').endCell().toBoc().toString('base64');
  await network.control('impersonate', { from, to: pool, amount: `${toNano('20001')}`, body });
}

/** A machine that is busy with something else indexes some transactions in a second. */
const MOST_WAIT_MS = 240_000;

/** Waits until the index has something. */
export async function found<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  for (const until = Date.now() + MOST_WAIT_MS; ; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const value = await look();
    if (value !== undefined) return value;
    if (Date.now() > until) throw new Error(`the index does not have ${what}`);
  }
}
