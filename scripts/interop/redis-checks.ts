import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { KeyAdministration } from '#services/access/keys.js';
import { keysIn, plansIn } from '#services/access/start-keyed-access.js';
import { AccessClient, type OverloadResult } from '#test/support/access-client.js';
import type { CheckReport } from './check-report.js';
import { runCommand } from './python-venv.mjs';
import { checkSharedMessages } from './redis-messages.js';
import { RedisProcess } from './redis-process.js';
import { prepareRedis } from './redis-server.mjs';

const RATE = 200;
/** A process that does not get to ask for half a second loses nothing of its rate. */
const BURST = 100;
const QUOTA = 50;
const PLANS = [
  { name: 'fast', requests_per_second: RATE, burst: BURST },
  { name: 'half', requests_per_second: 0.5 },
  { name: 'late', requests_per_second: 0.5, burst: 1 },
  { name: 'few', requests_per_second: 1000, daily_quota: QUOTA },
  { name: 'work', requests_per_second: 1000, work_per_second: 1, work_burst: 1000 },
];
/** What a request may wait for Redis, and what a busy machine of two cores adds to it. */
const SLOWEST_MS = 50 + 150;

/** What both processes let pass. */
interface Overload {
  readonly results: readonly OverloadResult[];
  readonly wantedSeconds: number;
  /** Until both had ended: longer than wanted on a machine that does much else. */
  readonly seconds: number;
}

/** Two processes with one data directory and one Redis. */
class SharedLimits {
  readonly redis: RedisProcess;
  readonly clients: readonly AccessClient[];
  readonly #keys: ReadonlyMap<string, string>;

  private constructor(redis: RedisProcess, clients: readonly AccessClient[], keys: ReadonlyMap<string, string>) {
    this.redis = redis;
    this.clients = clients;
    this.#keys = keys;
  }

  static async start(command: string, scratch: string): Promise<SharedLimits> {
    const redis = await RedisProcess.start(command, scratch);
    const modules = { clock: systemClock, unixTimeMs: Date.now, randomBytes, logger: silentLogger };
    const folder = mkdtempSync(join(scratch, 'data-'));
    writeFileSync(join(folder, 'plans.json'), JSON.stringify({ plans: PLANS }));
    const keys = new Map<string, string>();
    const administration = new KeyAdministration({ ...modules, store: keysIn(folder, modules) });
    for (const { name } of PLANS) {
      const wanted = { label: '', owner: null, plan: name, networks: null };
      keys.set(name, (await administration.create(wanted, plansIn(folder, null))).key);
    }
    const options = { folder, plans: null, redisUrl: redis.url, flushMs: 500 };
    const clients = await Promise.all([AccessClient.start(options), AccessClient.start(options)]);
    return new SharedLimits(redis, clients, keys);
  }

  /** Asks both without pause for so long; gives what both did. */
  async overload(plan: string, wantedSeconds: number): Promise<Overload> {
    const began = Date.now();
    const question = { key: this.#keys.get(plan)!, clientAddress: '192.0.2.1', network: 'mainnet' };
    const until = began + wantedSeconds * 1000;
    const results = await Promise.all(this.clients.map((client) => client.overload(question, until, 4)));
    return { results, wantedSeconds, seconds: (Date.now() - began) / 1000 };
  }

  /**
   * What both let pass while Redis answered in time. On a busy machine an answer may be late; the processes count on their own
   * then, so what passed in that time says nothing about sharing, and they are asked again.
   */
  async sharedOverload(plan: string, seconds: number): Promise<Overload> {
    const outages = async () => (await this.overload('fast', 0.5)).results.map((each) => each.metrics.redis!.outages);
    for (let attempt = 0; attempt < 5; attempt++) {
      const before = await outages();
      const overload = await this.overload(plan, seconds);
      if (overload.results.every(({ metrics }, i) => metrics.redis!.outages === before[i])) return overload;
      await delay(3_000);
    }
    throw new Error('Redis was late in each of five attempts');
  }

  /** Asks now for requests that arrived so many milliseconds ago; gives which passed. */
  async passesLate(plan: string, waits: readonly number[]): Promise<boolean[]> {
    const question = { key: this.#keys.get(plan)!, clientAddress: '192.0.2.1', network: 'mainnet' };
    const passed: boolean[] = [];
    for (const [i, waitedMs] of waits.entries()) {
      const client = this.clients[i % this.clients.length]!;
      passed.push((await client.ask({ ...question, waitedMs })).kind === 'allowed');
    }
    return passed;
  }

  async passes(plan: string, times: number): Promise<number> {
    const question = { key: this.#keys.get(plan)!, clientAddress: '192.0.2.1', network: 'mainnet' };
    let passed = 0;
    for (let i = 0; i < times; i++) {
      for (const client of this.clients) if ((await client.ask(question)).kind === 'allowed') passed++;
    }
    return passed;
  }

  /** Takes the price of a call from each process in turn; gives how many passed. */
  async takes(units: number, times: number): Promise<number> {
    const question = { key: this.#keys.get('work')!, clientAddress: '192.0.2.1', network: 'mainnet' };
    let passed = 0;
    for (let i = 0; i < times; i++) {
      for (const client of this.clients) if ((await client.takeWork(question, units)).kind === 'allowed') passed++;
    }
    return passed;
  }

  /** Waits until both processes use Redis again after they had to do without it. */
  async untilBack(): Promise<void> {
    const isBack = ({ log }: AccessClient) =>
      log.lastIndexOf('Redis is back') > log.lastIndexOf('Redis does not answer');
    for (const until = Date.now() + 60_000; !this.clients.every(isBack); await delay(50)) {
      if (Date.now() > until)
        throw new Error(`a process does not use Redis again: ${this.clients.map(({ log }) => log)}`);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.kill()));
    await this.redis.kill();
  }
}

/** Not more than the rate allows, burst included; and most of it, as they ask without pause. */
function isRate(passed: number, { wantedSeconds, seconds }: Overload): boolean {
  return passed >= RATE * wantedSeconds * 0.95 && passed <= RATE * seconds + BURST;
}

function expectShared(overload: Overload): string {
  const { results, seconds } = overload;
  const counts = results.map(({ allowed }) => allowed);
  const total = counts.reduce((sum, each) => sum + each, 0);
  const said = `${total} in ${seconds.toFixed(1)} s passed (${counts.join(' + ')})`;
  if (!isRate(total, overload)) throw new Error(`${said}: that is not the rate`);
  const alone = results.filter(({ allowed }) => allowed === 0);
  if (alone.length > 0) throw new Error(`${said}: one process got nothing`);
  return said;
}

function expectQuick({ results }: Overload): string {
  const slowest = Math.round(Math.max(...results.map(({ slowestMs }) => slowestMs)));
  if (slowest > SLOWEST_MS) throw new Error(`a request waited ${slowest} ms`);
  return `the slowest request took ${slowest} ms`;
}

/** Both count on their own: each lets the whole rate pass. */
function expectAlone(overload: Overload): string {
  for (const { allowed, metrics } of overload.results) {
    if (!isRate(allowed, overload)) {
      throw new Error(`${allowed} in ${overload.seconds.toFixed(1)} s passed in one process`);
    }
    if (metrics.redis?.up !== false || metrics.redis.fallbacks < allowed) throw new Error('the metrics do not say so');
  }
  return `each process on its own; ${expectQuick(overload)}`;
}

async function checkLimits(limits: SharedLimits, report: CheckReport): Promise<void> {
  const { redis, clients } = limits;
  const overloadOf = (seconds: number) => limits.overload('fast', seconds);
  await report.check('redis: two processes share a rate for 10 s', async () =>
    expectShared(await limits.sharedOverload('fast', 10)),
  );
  await report.check('redis: requests count when they arrived', async () => {
    const passed = (await limits.passesLate('late', [60_000, 50_000, 40_000, 39_000, 30_000, 29_000])).join();
    if (passed !== 'true,true,true,false,true,false') throw new Error(passed);
    return 'four of six, begun at once, that came in half a minute';
  });
  await report.check('redis: and a fraction of one', async () => {
    const { results } = await limits.sharedOverload('half', 6);
    const passed = results.reduce((sum, { allowed }) => sum + allowed, 0);
    if (passed !== 3) throw new Error(`${passed} passed in 6 s instead of 3`);
    return '3 passed in 6 s';
  });
  await report.check('redis: and a daily quota', async () => {
    const passed = await limits.passes('few', QUOTA);
    if (passed !== QUOTA) throw new Error(`${passed} passed instead of ${QUOTA}`);
    return `${passed} of ${2 * QUOTA} passed`;
  });
  await report.check('redis: and a budget of work', async () => {
    const passed = await limits.takes(100, 10);
    if (passed !== 10) throw new Error(`${passed} calls of 100 units passed instead of 10`);
    return '10 of 20 calls passed';
  });
  await report.check('redis: what it holds goes away by itself', async () => {
    const script =
      "for _,k in ipairs(redis.call('KEYS','*')) do if redis.call('PTTL',k)<0 then return k end end return 'none'";
    const answer = await redis.ask(`EVAL "${script}" 0`);
    if (!answer.includes('none')) throw new Error(`a key has no end: ${answer}`);
    return 'every key has an end';
  });
  await report.check('redis: killed under load', async () => {
    const running = overloadOf(4);
    await delay(1000);
    await redis.kill();
    const seen = expectQuick(await running);
    return `${seen}; then ${expectAlone(await overloadOf(3))}`;
  });
  await report.check('redis: started again', async () => {
    await redis.start();
    await limits.untilBack();
    return expectShared(await limits.sharedOverload('fast', 5));
  });
  await report.check('redis: it forgot the quota, the processes did not', async () => {
    const passed = await limits.passes('few', 5);
    if (passed !== 0) throw new Error(`${passed} more passed`);
    return 'none passed';
  });
  await report.check('redis: hanging', async () => {
    redis.suspend();
    try {
      const first = expectQuick(await overloadOf(2));
      return `${first}; then ${expectAlone(await overloadOf(3))}`;
    } finally {
      redis.resume();
      await delay(1500);
    }
  });
  await report.check('redis: going on', async () => {
    await limits.untilBack();
    const overload = await limits.sharedOverload('fast', 5);
    const seen = expectShared(overload);
    for (const [i, { log }] of clients.entries()) {
      const lines = ['Redis does not answer', 'Redis is back'].map((text) => log.split(text).length - 1);
      const outages = overload.results[i]!.metrics.redis!.outages;
      if (lines.some((count) => count < 2 || count > outages)) {
        throw new Error(`the log of ${outages} outages says: ${log}`);
      }
    }
    return `${seen}; the log told of it`;
  });
}

/** Limits and pending messages that processes share through a real Redis, which dies, hangs and comes back. */
export async function checkRedis(report: CheckReport): Promise<void> {
  process.stdout.write('\nlimits and pending messages that processes share through Redis\n');
  const prepared = prepareRedis(runCommand);
  if ('problem' in prepared) {
    await report.check('redis', () => Promise.reject(new Error(prepared.problem)));
    return;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'tern-interop-redis-'));
  const limits = await SharedLimits.start(prepared.command, scratch);
  try {
    await checkLimits(limits, report);
    await checkSharedMessages(limits.redis, report);
  } finally {
    await limits.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}
