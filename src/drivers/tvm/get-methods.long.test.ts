import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GetMethodRequest, type GetMethodResult, NO_CODE } from '#drivers/tvm/get-method.js';
import { prevBlocksTuple, type TvmBlockId, type TvmPrevBlocksInfo } from '#drivers/tvm/request-fields.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { configDictionary, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { VM_NULL, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-stack.js';
import { toHex } from '#kernel/bytes.js';
import { shapeOfValue } from '#test/support/tonlib-stack.js';
import { codeOf, getMethodRequest, libraryCell, mainnetConfig } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm({ workers: 1 });
});
afterAll(() => pool.close());

/** Runs code that begins with `DROP` of the method id. */
function run(hex: string, more: Partial<GetMethodRequest> = {}, ...refs: Cell[]): Promise<GetMethodResult> {
  return pool.runGetMethod(getMethodRequest(codeOf(`30${hex}`, ...refs), more));
}

const shapes = ({ stack }: GetMethodResult): unknown[] => stack.map(shapeOfValue);
const wholeConfigRuns = (): number => pool.metrics().get_methods_with_config;

describe('a get method', () => {
  it('sees what the request says', async () => {
    const address = Address.ofParts(-1, new Uint8Array(32).fill(0xab));
    const rand_seed = new Uint8Array(32).fill(1);
    // NOW BLOCKLT LTIME RANDSEED MYADDR, 15 GETPARAMLONG (due payment), MYCODE
    const result = await run('f823f824f825f826f828f8810ff82a', { address, rand_seed, now: 4_294_967_295 });
    expect(result.exit_code).toBe(0);
    const addr_std = new Builder().storeUint(0b100, 3).storeUint(0xff, 8).storeBytes(address.hash).endCell();
    const seed = vmInt(BigInt(`0x${toHex(rand_seed)}`));
    const code = codeOf('30f823f824f825f826f828f8810ff82a');
    const wanted = [vmInt(4_294_967_295), vmInt(0), vmInt(0), seed, vmSlice(addr_std), vmInt(0), vmCell(code)];
    expect(shapes(result)).toEqual(wanted.map(shapeOfValue));
  });

  it('gets its arguments and gives its results in their order', async () => {
    const stack = [
      vmInt(-1),
      vmInt(2n ** 255n),
      VM_NULL,
      vmTuple([vmInt(1), vmTuple([])]),
      vmCell(mainnetConfig),
      vmSlice(EMPTY_CELL),
    ];
    const result = await run('', { stack });
    expect(result).toMatchObject({ exit_code: 0, vm_log: null, missing_library: null });
    expect(shapes(result)).toEqual(stack.map(shapeOfValue));
  });

  it('sees coins and all extra currencies, none of them of amount 0', async () => {
    const currencies = [
      [1, 5n],
      [4_294_967_279, 2n ** 248n - 1n],
      [7, 0n],
      [239, 1_000n],
    ] as const;
    const result = await run('f827', { balance: 2n ** 63n - 1n, extra_currencies: currencies });
    const wanted = currencies.filter(([, amount]) => amount > 0n);
    const root = ExtraCurrencyCollection.of(wanted).root!;
    expect(shapes(result)).toEqual([shapeOfValue(vmTuple([vmInt(2n ** 63n - 1n), vmCell(root)]))]);
    const none = await run('f827', { extra_currencies: [[7, 0n]] });
    expect(shapes(none)).toEqual([shapeOfValue(vmTuple([vmInt(10_000_000_000n), VM_NULL]))]);
  });

  it('runs out of gas at the limit, which ACCEPT does not lift', async () => {
    expect(await run('f80090ea')).toMatchObject({ exit_code: -14, gas_used: 1_000_001 });
    const less = await run('90ea', { gas_limit: 5_000 });
    expect(less.exit_code).toBe(-14);
    expect(less.gas_used).toBeLessThanOrEqual(5_010);
  });

  it('that needs more than the usual gas gets it, up to a limit that ACCEPT does not lift', async () => {
    const patient = { timeoutMs: 30_000 };
    const give = (hex: string, gas_limit: number, more: Partial<GetMethodRequest> = {}, code = codeOf(`30${hex}`)) =>
      pool.runGetMethod(getMethodRequest(code, { gas_limit, ...more }), patient);
    const heavy = '817530920000e4'; // 30,000 times: NOP NOP
    expect(await give(heavy, 1_000_000)).toMatchObject({ exit_code: -14, gas_used: 1_000_017 });
    const whole = { exit_code: 0, gas_used: 1_230_119 };
    expect(await give(heavy, 4_000_000)).toMatchObject(whole);
    expect(await give(heavy, 1_230_119)).toMatchObject(whole);
    expect(await give(heavy, 1_230_100)).toMatchObject({ exit_code: -14 });
    for (const endless of [`${heavy}90ea`, `f800${heavy}90ea`, `${heavy}f80090ea`, `${heavy}8317f80190ea`]) {
      const { exit_code, gas_used, stack } = await give(endless, 1_300_000);
      expect(exit_code).toBe(-14);
      expect(gas_used).toBeGreaterThan(1_300_000);
      expect(gas_used).toBeLessThan(1_300_100);
      expect(stack).toEqual([vmInt(gas_used)]);
    }
    // It sees what it sees with less gas: arguments, method, context, its own code and data.
    const seen = `${heavy}f823f824f825f826f828f827f82ff82aed44`;
    const more = {
      stack: [vmInt(5), vmCell(mainnetConfig), vmTuple([vmInt(1), VM_NULL])],
      data: codeOf('7b'),
      rand_seed: new Uint8Array(32).fill(1),
      extra_currencies: [[1, 5n]] as const,
    };
    const short = await run(seen.slice(heavy.length), more);
    const long = await give(seen, 4_000_000, more);
    expect(short.exit_code).toBe(0);
    const withoutCode = (result: GetMethodResult) => shapes(result).filter((_, i) => i !== shapes(result).length - 2);
    expect(withoutCode(long)).toEqual(withoutCode(short));
    expect(shapes(long).at(-2)).toEqual(shapeOfValue(vmCell(codeOf(`30${seen}`))));
    expect(shapes(await give(heavy, 4_000_000, { method: 'seqno' }, codeOf(heavy)))).toEqual(['85143']);
    expect(await give(`${heavy}f2c02a`, 4_000_000)).toMatchObject({ exit_code: 42, stack: [vmInt(0)] });
    const many = Array.from({ length: 1_000 }, (_, i) => vmInt(i));
    expect(await give(heavy, 4_000_000, { stack: many })).toMatchObject({ exit_code: 0, stack: many });
    const library = codeOf(`30${heavy}7a`);
    const resolveLibrary = async () => [library];
    const result = await give('', 4_000_000, { resolveLibrary }, libraryCell(library.hash()));
    expect(result).toMatchObject({ exit_code: 0, stack: [vmInt(10)] });
  });

  it('of an account without code ends as in the reference', async () => {
    const request = { ...getMethodRequest(EMPTY_CELL, { stack: [vmInt(5)], method: 'seqno' }), code: null };
    expect(await pool.runGetMethod(request)).toMatchObject({
      exit_code: NO_CODE,
      gas_used: 0,
      stack: [vmInt(5), vmInt(85143)],
    });
  });

  it('throws what it throws, and says so in the log when asked', async () => {
    const result = await run('f2c02a', { log_level: 'full_location_gas' }); // 42 THROW
    expect(result).toMatchObject({ exit_code: 42, stack: [vmInt(0)] });
    expect(result.vm_log).toMatch(/execute THROW 42/);
  });

  it('is refused with what cannot be', async () => {
    const bad = (field: string) => ({ code: 'tvm/bad-request', data: { field } });
    const pruned = new Builder().storeUint(0x0101, 16).storeBytes(new Uint8Array(34)).endExotic();
    await expect(run('', { now: -1 })).rejects.toMatchObject(bad('now'));
    await expect(run('', { now: 1.5 })).rejects.toMatchObject(bad('now'));
    await expect(run('', { balance: 2n ** 63n })).rejects.toMatchObject(bad('balance'));
    await expect(run('', { balance: -1n })).rejects.toMatchObject(bad('balance'));
    await expect(run('', { rand_seed: new Uint8Array(31) })).rejects.toMatchObject(bad('rand_seed'));
    await expect(run('', { gas_limit: 100_000_001 })).rejects.toMatchObject(bad('gas_limit'));
    await expect(run('', { method: '' })).rejects.toMatchObject(bad('method'));
    await expect(run('', { data: pruned })).rejects.toMatchObject(bad('data'));
    await expect(run('', { extra_currencies: [[1, -1n]] })).rejects.toMatchObject(bad('extra_currencies'));
    await expect(run('', { stack: Array(1_001).fill(VM_NULL) })).rejects.toMatchObject(bad('stack'));
    await expect(run('', { config: pruned })).rejects.toMatchObject({ code: 'tvm/bad-config' });
    await expect(run('', { config: EMPTY_CELL })).rejects.toMatchObject({ code: 'tvm/bad-config' });
    expect((await run('')).exit_code).toBe(0);
  });

  it('takes a thousand arguments and gives long lists: the emulator has room for its recursion', async () => {
    expect((await run('', { stack: Array(1_000).fill(vmInt(1)) })).stack).toHaveLength(1_000);
    // null, n times 1 SWAP PAIR
    const list = (n: number) => run(`6d81${n.toString(16).padStart(4, '0')}9471016f02e4`);
    expect(shapes(await list(1_000))).toEqual([{ list: Array(1_000).fill('1') }]);
    await expect(list(1_100)).rejects.toMatchObject({ code: 'tvm/refused' });
    expect(shapes(await run('79'))).toEqual(['9']);
  });
});

describe('the configuration', () => {
  it('is seen whole by whoever looks, in any of the ways there are', async () => {
    const root = shapeOfValue(vmCell(mainnetConfig));
    const elector = shapeOfValue(vmCell(configDictionary(mainnetConfig).get(1)!));
    expect(shapes(await run('f829'))).toEqual([root]); // CONFIGROOT
    expect(shapes(await run('f830'))).toEqual([root, '32']); // CONFIGDICT
    expect(shapes(await run('71f833'))).toEqual([elector]); // 1 CONFIGOPTPARAM
    expect(shapes(await run('f88109'))).toEqual([root]); // 9 GETPARAMLONG
    expect(shapes(await run('ed476f106f19'))).toEqual([root]); // c7 PUSH, 0 INDEX, 9 INDEX
    expect(shapes(await run('77ede06f106f19'))).toEqual([root]); // 7 PUSHCTRX
    expect(shapes(await run('70f8406f19'))).toEqual([root]); // 0 GETGLOBVAR
  });

  it('is not read for a get method that does not look at it; one that did gets it at once the next time', async () => {
    const before = wholeConfigRuns();
    const runsBefore = pool.metrics().runs;
    await run('f823');
    expect(wholeConfigRuns() - before).toBe(0);
    await run('74f833');
    expect([wholeConfigRuns() - before, pool.metrics().runs - runsBefore]).toEqual([1, 3]);
    await run('74f833');
    expect([wholeConfigRuns() - before, pool.metrics().runs - runsBefore]).toEqual([2, 4]);
  });

  it('shows the same prices to a get method that does not look at it', async () => {
    // GETGASFEE of 1,000 gas in the basechain; the same, then CONFIGROOT DROP
    const before = wholeConfigRuns();
    const short = await run('8103e870f836');
    expect(wholeConfigRuns()).toBe(before);
    const whole = await run('8103e870f836f82930');
    expect(wholeConfigRuns()).toBe(before + 1);
    expect(short.exit_code).toBe(0);
    expect(shapes(short)).toEqual(shapes(whole));
    expect(shapes(short)).not.toEqual(['0']);
  });

  it('decides by its global version what a run sees', async () => {
    const versionOf = (version: number): Cell =>
      configDictionary(mainnetConfig).set(8, encodeConfigParam(8, { version, capabilities: 494n })).root!;
    const c7Length = async (version: number): Promise<unknown> =>
      shapes(
        await run('f88100ed476f106f88', { config: versionOf(version) }).then((r) => ({
          ...r,
          stack: r.stack.slice(-1),
        })),
      );
    expect(await c7Length(13)).toEqual(['18']);
    const old = await run('ed476f106f88', { config: versionOf(3) });
    expect(shapes(old)).toEqual(['10']);
  });
});

describe('previous blocks', () => {
  const block = (seqno: number): TvmBlockId => ({
    workchain: -1,
    shard: 1n << 63n,
    seqno,
    root_hash: new Uint8Array(32).fill(seqno),
    file_hash: new Uint8Array(32).fill(255 - seqno),
  });
  const info: TvmPrevBlocksInfo = {
    last_mc_blocks: [block(9), block(8)],
    prev_key_block: block(3),
    last_mc_blocks_100: [block(100)],
  };

  it('are seen as a tuple, by version', async () => {
    const result = await run('f82d', { prev_blocks_info: info });
    expect(shapes(result)).toEqual([shapeOfValue(prevBlocksTuple(info, 9))]);
    expect(prevBlocksTuple(info, 9)).toMatchObject({ data: { length: 3 } });
    expect(prevBlocksTuple(info, 8)).toMatchObject({ data: { length: 2 } });
    expect(shapes(await run('f83401', { prev_blocks_info: info }))).toEqual([
      {
        tuple: [
          '-1',
          String(1n << 63n),
          '3',
          BigInt(`0x${'03'.repeat(32)}`).toString(),
          BigInt(`0x${'fc'.repeat(32)}`).toString(),
        ],
      },
    ]);
    expect(shapes(await run('f82d'))).toEqual([{ list: [] }]);
  });

  it('are asked for only when they are looked at', async () => {
    let asked = 0;
    const prev_blocks_info = async (): Promise<TvmPrevBlocksInfo> => {
      asked++;
      return info;
    };
    await run('f823', { prev_blocks_info });
    expect(asked).toBe(0);
    const hundreds = shapes(await run('f83402', { prev_blocks_info }));
    expect(hundreds).toEqual([{ tuple: [{ tuple: expect.arrayContaining(['-1', String(1n << 63n), '100']) }] }]);
    expect(asked).toBe(1);
  });
});

describe('libraries', () => {
  const library = codeOf('3079'); // 9
  const wants = libraryCell(library.hash());

  it('that the code is, or names, are fetched before the run', async () => {
    const asked: number[] = [];
    const resolveLibrary = async (hashes: readonly Uint8Array[]) => {
      asked.push(hashes.length);
      return hashes.map((hash) => (toHex(hash) === toHex(library.hash()) ? library : null));
    };
    const runs = pool.metrics().runs;
    const result = await pool.runGetMethod(getMethodRequest(wants, { resolveLibrary }));
    expect(shapes(result)).toEqual(['9']);
    expect([asked, pool.metrics().runs - runs]).toEqual([[1], 1]);
  });

  it('that only data names are fetched when the run fails on them', async () => {
    const asked: string[] = [];
    const resolveLibrary = async (hashes: readonly Uint8Array[]) => {
      asked.push(...hashes.map(toHex));
      return [library];
    };
    // c4 PUSH, CTOS (of a library reference: its content), SREMAINING bits
    const result = await run('ed44d0d749', { data: wants, resolveLibrary });
    expect(result.exit_code).toBe(0);
    expect(shapes(result)).toEqual([String(library.bits)]);
    expect(asked).toEqual([toHex(library.hash())]);
  });

  it('that nobody has are named, and asked for once', async () => {
    let asked = 0;
    const resolveLibrary = async () => {
      asked++;
      return [null];
    };
    const result = await pool.runGetMethod(getMethodRequest(wants, { resolveLibrary }));
    expect(result).toMatchObject({ exit_code: 9 });
    expect(toHex(result.missing_library!)).toBe(toHex(library.hash()));
    expect(asked).toBe(1);
    expect((await pool.runGetMethod(getMethodRequest(wants))).exit_code).toBe(9);
  });

  it('must be what was asked for', async () => {
    const resolveLibrary = async () => [EMPTY_CELL];
    await expect(pool.runGetMethod(getMethodRequest(wants, { resolveLibrary }))).rejects.toMatchObject({
      code: 'tvm/bad-library',
    });
  });
});
