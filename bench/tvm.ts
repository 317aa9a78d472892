import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { codeOf, getMethodRequest } from '#test/support/tvm-contract.js';
import type { BenchSuite } from './suite.js';

/** An attack on get-methods beside one honest client. */
interface Starvation {
  readonly seconds: number;
  /** Clients that attack, each once a second. 0: the honest client is alone. */
  readonly attackers: number;
  /** Contracts with different endless codes that they run in turn. */
  readonly contracts: number;
}

/** Durations of the honest client's runs in milliseconds, sorted, and how the attackers' runs ended. */
interface StarvationResult {
  readonly honestMs: readonly number[];
  readonly ends: ReadonlyMap<string, number>;
}

const LIMITS = { workers: 2, slowWorkers: 1, rememberMs: 300_000, maxWaitingOfClient: 256, maxWaitingOfContract: 64 };
const CPU_MS = 500;
/** Between two runs of the honest client. */
const PAUSE_MS = 20;

/** `ACCEPT`, a number that makes the code another one, and an empty loop without end. */
function endlessContract(number: number) {
  const hex = number.toString(16).padStart(4, '0');
  const address = Address.ofParts(0, new Uint8Array(32).fill(number + 1));
  return getMethodRequest(codeOf(`f80081${hex}3090ea`), { address, gas_limit: 4_000_000 });
}

/** Runs a quick get-method again and again while others run endless ones. */
async function measureStarvation({ seconds, attackers, contracts }: Starvation): Promise<StarvationResult> {
  const pool = new TvmPool(LIMITS, { clock: systemClock });
  await pool.start();
  const ends = new Map<string, number>();
  const honestMs: number[] = [];
  const wallet = getMethodRequest(codeOf('3079'), { method: 'seqno' });
  for (let i = 0; i < 50; i++) await pool.runGetMethod(wallet, { client: 'honest' });
  let next = 0;
  const attacks: Promise<void>[] = [];
  const attack = async (client: string): Promise<void> => {
    let end = 'result';
    try {
      const { remembered_ms } = await pool.runGetMethod(endlessContract(next++ % contracts), { client, cpuMs: CPU_MS });
      if (remembered_ms !== null) end = 'remembered result';
    } catch (error) {
      end = isTernError(error) ? error.code : String(error);
    }
    ends.set(end, (ends.get(end) ?? 0) + 1);
  };
  const timers = Array.from({ length: attackers }, (_, i) =>
    setInterval(() => void attacks.push(attack(`attacker ${i}`)), 1_000),
  );
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    const began = performance.now();
    await pool.runGetMethod(wallet, { client: 'honest' });
    honestMs.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  for (const timer of timers) clearInterval(timer);
  await pool.close();
  await Promise.allSettled(attacks);
  return { honestMs: honestMs.sort((a, b) => a - b), ends };
}

const ATTACKS: readonly Starvation[] = [
  { seconds: 15, attackers: 0, contracts: 0 },
  { seconds: 15, attackers: 1, contracts: 1 },
  { seconds: 15, attackers: 10, contracts: 100 },
];

export const suite: BenchSuite = {
  name: 'tvm',
  cases: () => [],
  tables: async () => {
    const rows: string[][] = [];
    for (const attack of ATTACKS) {
      const { honestMs, ends } = await measureStarvation(attack);
      const at = (share: number) => honestMs[Math.floor(share * (honestMs.length - 1))]!.toFixed(1);
      const ended = [...ends].map(([end, times]) => `${end} ${times}`).join(', ');
      rows.push([String(attack.attackers), String(attack.contracts), at(0.5), at(0.99), at(1), ended]);
    }
    const head = [
      'attackers at 1/s',
      'endless contracts',
      'honest p50 ms',
      'p99 ms',
      'most ms',
      'ends of endless runs',
    ];
    return [{ title: 'a quick get-method beside endless ones', head, rows }];
  },
};
