import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { spreadOf } from './harness.js';
import { profile, type WorkPart } from './localnet/profile.js';
import { SandboxExecutor } from './localnet/sandbox-executor.js';
import { TransferNetwork } from './localnet/transfer-network.js';
import type { ReportTable } from './report.js';
import type { BenchSuite } from './suite.js';

/** Wallets that send in each mc block bundle: 8 is a quiet network, 20 is 100 transactions a second with blocks of 400 ms. */
const WALLETS = [8, 20, 200];
const WARM_UP_ROUNDS = 5;
const ROUNDS = 9;
/** Transactions that are profiled, at least. */
const PROFILED = 3_000;

/** Inside out: what is done within another part counts for the innermost. */
const PARTS: readonly WorkPart[] = [
  { name: 'emulation: handing over', file: /drivers\/tvm\/|node:internal\/worker/ },
  { name: 'Merkle updates', file: /cells\/merkle-update/ },
  { name: 'bags of cells', file: /cells\/boc-serialize/ },
  { name: 'ledger', file: /localnet\/ledger\// },
  { name: 'signatures', file: /producer\/masterchain\/sign-block/ },
  { name: 'transactions, messages, dictionaries', file: /localnet\/producer\// },
];

export const suite: BenchSuite = {
  name: 'localnet',
  cases: () => [],
  async tables() {
    const rates: string[][] = [];
    const shares: string[][] = [];
    for (const wallets of WALLETS) {
      process.stderr.write(`bench: localnet: bundles with ${wallets} transfers …\n`);
      const folder = mkdtempSync(join(tmpdir(), 'tern-bench-'));
      const network = await TransferNetwork.start(join(folder, 'chain'), wallets);
      try {
        rates.push(await measureRounds(network, wallets));
        shares.push(...(await measureShares(network, wallets)));
      } finally {
        await network.close();
        rmSync(folder, { recursive: true });
      }
    }
    return [ratesTable(rates), sharesTable(shares)];
  },
};

/** What some work took, in milliseconds: by the clock, and of all threads. */
interface Taken {
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function take<T>(work: () => Promise<T>): Promise<Taken & { readonly result: T }> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - began, cpuMs: (user + system) / 1000, result };
}

/** Block production, and the bare emulation of their transactions by the pool and by others, in turn. */
async function measureRounds(network: TransferNetwork, wallets: number): Promise<string[]> {
  const executor = await SandboxExecutor.create();
  const taken: { readonly count: number; readonly ours: Taken; readonly bare: Taken; readonly sandbox: Taken }[] = [];
  for (const [i, messages] of network.prepare(WARM_UP_ROUNDS + ROUNDS).entries()) {
    const ours = await take(() => network.transfers(messages));
    const { transactions } = ours.result;
    const sandbox = await take(executor.prepare(transactions));
    SandboxExecutor.compare(transactions, sandbox.result);
    const bare = await take(async () => {
      for (const { request } of transactions) {
        if ('which' in request) await network.pool.emulateTickTock(request);
        else await network.pool.emulateTransaction(request);
      }
    });
    if (i >= WARM_UP_ROUNDS) taken.push({ count: transactions.length, ours, bare, sandbox });
  }
  const ratio = spreadOf(taken.map(({ ours, sandbox }) => sandbox.wallMs / ours.wallMs));
  const rate = (of: (each: (typeof taken)[0]) => Taken): string => {
    const { min, median, max } = spreadOf(taken.map((each) => (each.count * 1000) / of(each).wallMs));
    const cpu = spreadOf(taken.map((each) => (of(each).cpuMs * 1000) / each.count)).median;
    return `${median.toFixed(0)}  ${min.toFixed(0)}  ${max.toFixed(0)}; ${cpu.toFixed(0)} µs`;
  };
  return [
    `${wallets}`,
    `${taken[0]!.count}`,
    `${spreadOf(taken.map(({ ours }) => ours.wallMs)).median.toFixed(0)} ms`,
    rate(({ ours }) => ours),
    rate(({ bare }) => bare),
    rate(({ sandbox }) => sandbox),
    `${ratio.median.toFixed(2)}x`,
    `${ratio.min.toFixed(2)} … ${ratio.max.toFixed(2)}`,
  ];
}

function ratesTable(rows: readonly (readonly string[])[]): ReportTable {
  return {
    title:
      'Blocks produced and stored, against nothing but the emulation of their transactions, in this process (transactions/s: median, min, max; CPU of all threads for one)',
    head: [
      'transfers',
      'transactions',
      'an mc block bundle',
      'producer and ledger',
      'its emulation alone',
      '@ton/sandbox 0.41.0 executor',
      'ratio',
      'min … max',
    ],
    rows,
  };
}

async function measureShares(network: TransferNetwork, wallets: number): Promise<string[][]> {
  const prepared = network.prepare(Math.ceil(PROFILED / (2 * wallets)));
  let transactions = 0;
  let cpuMs = 0;
  const times = await profile(PARTS, async () => {
    const cpu = process.cpuUsage();
    for (const messages of prepared) transactions += (await network.transfers(messages)).transactions.length;
    const { user, system } = process.cpuUsage(cpu);
    cpuMs = (user + system) / 1000;
  });
  const total = [...times.values()].reduce((a, b) => a + b, 0);
  const row = (name: string, ms: number): string[] => [
    `${wallets}`,
    name,
    `${((ms * 1000) / transactions).toFixed(0)} µs`,
    `${((ms / total) * 100).toFixed(0)} %`,
  ];
  const sorted = [...times].sort(([, a], [, b]) => b - a);
  return [
    ...sorted.map(([part, ms]) => row(part === 'waiting' ? 'emulation: waiting for it' : part, ms)),
    [`${wallets}`, 'CPU of all threads', `${((cpuMs * 1000) / transactions).toFixed(0)} µs`, ''],
  ];
}

function sharesTable(rows: readonly (readonly string[])[]): ReportTable {
  return {
    title: 'Where the time of a transaction goes',
    head: ['transfers', 'part', 'a transaction', 'share'],
    rows,
  };
}
