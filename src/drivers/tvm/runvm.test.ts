import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContextResult, ContextRun } from '#drivers/tvm/runvm.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { setEntry } from '#formats/cells/dict-edit.js';
import { configDictionary, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import type { VmStackValue } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmCell, vmInt, vmTuple } from '#formats/tlb/vm-stack.js';
import { shapeOfValue } from '#test/support/tonlib-stack.js';
import { codeOf, getMethodRequest, libraryCell, mainnetConfig } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm({ workers: 1 });
});
afterAll(() => pool.close());

/** The rules of global version 3: no `RUNVM`. */
const oldConfig = configDictionary(mainnetConfig).set(8, encodeConfigParam(8, { version: 3, capabilities: 0n }))
  .root as Cell;

const BLOCK_LT = 77_000_001n;
const info: VmStackValue[] = Array.from({ length: 10 }, () => VM_NULL);
info[3] = vmInt(1_750_000_000);
info[4] = vmInt(BLOCK_LT);
const c7 = vmTuple([vmTuple(info)]);

function run(code: Cell, config: Cell, more: Partial<ContextRun> = {}): Promise<ContextResult> {
  const usual = { code, data: null, method_id: 0n, stack: [], c7, gas_limit: 300_000, config, libraries: null };
  return pool.runInContext({ ...usual, ...more });
}

const shapes = ({ stack }: ContextResult): unknown[] => stack.map(shapeOfValue);
const ACCEPT = 'f800';
const LOOP = '90ea';

describe.each([
  ['in a machine within the machine', mainnetConfig],
  ['after a prelude, before global version 4', oldConfig],
])('a run %s', (_, config) => {
  it('has the context that it is given, its arguments and an id of any size', async () => {
    // c4 PUSHCTR, BLOCKLT, c3 PUSHCTR: code that calls itself by c3 finds its whole code there
    const code = codeOf('ed44f824ed43');
    const id = 2n ** 100n;
    const data = new Builder().storeUint(5, 8).endCell();
    const result = await run(code, config, { data, method_id: id, stack: [vmInt(-7), VM_NULL] });
    expect(result.exit_code).toBe(0);
    expect(shapes(result).slice(0, 5)).toEqual(
      [vmInt(-7), VM_NULL, vmInt(id), vmCell(data), vmInt(BLOCK_LT)].map(shapeOfValue),
    );
    expect(result.stack[5]).toMatchObject({ kind: 'vm_stk_cont', cont: { kind: 'vmc_std' } });
    expect(shapes(await run(codeOf('30ed44'), config))).toEqual([shapeOfValue(vmCell(EMPTY_CELL))]);
  });

  it('takes the gas that a plain run takes', async () => {
    for (const code of [
      codeOf('30'),
      codeOf('3070717273a0a0a0'),
      codeOf(''),
      codeOf('3088', EMPTY_CELL),
      codeOf('30f2c064'),
    ]) {
      const plain = await pool.runGetMethod(getMethodRequest(code, { config, method: 0 }));
      expect(await run(code, config)).toMatchObject({ gas_used: plain.gas_used, exit_code: plain.exit_code });
    }
  });

  it('ends at its limit of gas, and reports how much it used', async () => {
    const { exit_code, gas_used, stack } = await run(codeOf(`30${LOOP}`), config);
    expect(exit_code).toBe(-14);
    expect(gas_used).toBeGreaterThan(300_000);
    expect(gas_used).toBeLessThan(300_100);
    expect(stack).toEqual([vmInt(gas_used)]);
    const plain = await pool.runGetMethod(
      getMethodRequest(codeOf(`30${LOOP}`), { config, method: 0, gas_limit: 300_000 }),
    );
    expect(plain).toMatchObject({ exit_code, gas_used });
  });

  it('throws as contracts throw', async () => {
    expect(await run(codeOf('30f2c5ff'), config)).toMatchObject({ exit_code: 1535, stack: [vmInt(0)] });
    expect(await run(codeOf('3030'), config)).toMatchObject({ exit_code: 2, stack: [vmInt(0)] });
    expect(await run(codeOf('30da'), config)).toMatchObject({ exit_code: 6 });
  });

  it('finds libraries, also as its code', async () => {
    const library = codeOf('3075');
    const libraries = setEntry(null, 256, library.hash(), new Builder().storeBit(true).storeRef(library));
    const found = await run(libraryCell(library.hash()), config, { libraries });
    expect(found).toMatchObject({ exit_code: 0, stack: [vmInt(5)] });
    expect((await run(libraryCell(library.hash()), config)).exit_code).toBe(9);
  });
});

it('gets configuration and previous blocks when it looks at them, and only then', async () => {
  const whole = Array.from({ length: 18 }, (_, i) => vmInt(100 + i));
  whole[9] = vmCell(mainnetConfig);
  whole[13] = vmTuple([vmInt(1), vmInt(2)]);
  const context = { c7: vmTuple([vmTuple(whole)]) };
  const readers = () => pool.metrics().get_methods_with_config;
  const before = readers();
  // NOW
  expect(shapes(await run(codeOf('30f823'), mainnetConfig, context))).toEqual([shapeOfValue(vmInt(103))]);
  expect(readers() - before).toBe(0);
  // CONFIGROOT; PREVBLOCKSINFOTUPLE; the whole of c7
  const looks = { f829: whole[9]!, f82d: whole[13]!, ed47: context.c7 };
  for (const [code, found] of Object.entries(looks)) {
    for (let times = 0; times < 2; times++) {
      expect(shapes(await run(codeOf(`30${code}`), mainnetConfig, context)), code).toEqual([shapeOfValue(found)]);
    }
  }
  expect(readers() - before).toBe(6);
});

it('ACCEPT does not lift the limit', async () => {
  const result = await run(codeOf(`30${ACCEPT}${LOOP}`), mainnetConfig);
  expect(result).toMatchObject({ exit_code: -14, stack: [vmInt(result.gas_used)] });
  expect(result.gas_used).toBeLessThan(300_100);
});

it('before global version 4 a run that lifted the limit and went beyond it is out of gas one unit above', async () => {
  // PUSHINT 20000, then REPEAT of a NOP: more than 300,000 units of gas, but an end
  const result = await run(codeOf(`30${ACCEPT}814e209100e4`), oldConfig);
  expect(result).toEqual({ exit_code: -14, gas_used: 300_001, stack: [vmInt(300_001)] });
  const less = await run(codeOf(`30${ACCEPT}75`), oldConfig);
  expect(less).toMatchObject({ exit_code: 0, stack: [vmInt(5)] });
});

it('a limit beyond what the emulator has, and too many arguments, are refused', async () => {
  await expect(run(codeOf('30'), mainnetConfig, { gas_limit: 1_000_000 })).rejects.toMatchObject({
    code: 'tvm/bad-request',
  });
  await expect(run(codeOf('30'), mainnetConfig, { stack: Array(996).fill(VM_NULL) })).rejects.toMatchObject({
    code: 'tvm/bad-request',
  });
});
