import { expect, it } from 'vitest';
import { FULL } from '#test/support/full-depth.js';
import { codeOf, getMethodRequest } from '#test/support/tvm-contract.js';
import { withPool } from '#test/support/tvm-pool.js';

/** A million gas: some tenths of a second. */
const long = getMethodRequest(codeOf('90ea'));
const quick = getMethodRequest(codeOf('3079'));

it('keeps its memory over many runs', () =>
  withPool({ workers: 1 }, async (pool) => {
    // 4 CONFIGOPTPARAM, and the time: half of the runs with the whole configuration.
    const requests = ['3074f833', '30f823'].map((hex) => getMethodRequest(codeOf(hex)));
    const some = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await pool.runGetMethod(requests[i % 2]!);
    };
    await some(100);
    const emulatorBytes = pool.metrics().emulator_bytes;
    const resident = process.memoryUsage().rss;
    await some(FULL ? 2_000 : 500);
    expect(pool.metrics().emulator_bytes).toBe(emulatorBytes);
    expect(process.memoryUsage().rss - resident).toBeLessThan(64 * 2 ** 20);
  }));

it('takes a fresh emulator when the memory of one has grown', () =>
  withPool({ workers: 1, emulatorBytes: 32 * 2 ** 20 }, async (pool) => {
    // Logs of some megabytes, several times over.
    for (let i = 0; i < 2; i++) expect((await pool.runGetMethod(long)).exit_code).toBe(-14);
    expect(pool.metrics().emulator_bytes).toBeGreaterThan(32 * 2 ** 20);
    expect((await pool.runGetMethod(quick)).exit_code).toBe(0);
  }));
