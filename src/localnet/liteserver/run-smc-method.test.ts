import { expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { decodeOne } from '#formats/tl/constructor.js';
import { LiteServerAccountState, LiteServerRunMethodResult } from '#formats/tl/lite-api.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { VM_NULL, VmStack, VmStackValue, vmCell, vmInt, vmTuple } from '#formats/tlb/vm-stack.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { toLiteError } from '#localnet/liteserver/errors.js';
import type { GetMethodRun, RunGetMethod } from '#localnet/liteserver/lite-handler.js';
import { runSmcMethod } from '#localnet/liteserver/run-smc-method.js';
import { contextOf } from '#test/support/genesis-ledger.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { shapeOfValue } from '#test/support/tonlib-stack.js';
import { vectorPath } from '#test/support/vector-files.js';

const ledger = keptReplay(vectorPath('recorded-chain'), { to: null, head: null });
const head = ledger.head!;
const ELECTOR = { workchain: -1, id: new Uint8Array(32).fill(0x33) };
const NOBODY = { workchain: -1, id: new Uint8Array(32).fill(0xab) };
const ARGUMENTS = [vmInt(7), vmCell(EMPTY_CELL)];

const SEED = new Uint8Array(32).fill(0x5e);
const SEED_NUMBER = BigInt(`0x${'5e'.repeat(32)}`);

function itemsOf(value: VmStackValue): readonly VmStackValue[] {
  if (value.kind !== 'vm_stk_tuple') throw new TypeError(value.kind);
  return value.data;
}

/** The first item of `c7`. */
function infoOf(c7: Uint8Array): readonly VmStackValue[] {
  return itemsOf(itemsOf(decodeCell(VmStackValue, parseBocRoot(c7)))[0]!);
}

async function ask(changes: object, run: RunGetMethod) {
  const params = serializeBoc(encodeCell(VmStack, ARGUMENTS));
  const args = { mode: 4, id: blockIdToTl(head.id), account: ELECTOR, method_id: 86535n, params, ...changes };
  return await runSmcMethod(args, { ...contextOf(ledger), randomBytes: () => SEED }, run);
}

const unused: RunGetMethod = () => Promise.reject(new RangeError('it was run'));

async function refusalOf(changes: object): Promise<string> {
  try {
    await ask(changes, unused);
  } catch (error) {
    if (!isTernError(error)) throw error;
    const { code, message } = toLiteError(error);
    return `${code} ${message}`;
  }
  return 'no error';
}

it('a get method is run with what its block knows, and all asked for is shown', async () => {
  const runs: GetMethodRun[] = [];
  const answer = await ask({ mode: 0x1f }, async (run) => {
    runs.push(run);
    return { exit_code: 5, stack: run.stack };
  });
  const result = decodeOne(LiteServerRunMethodResult, answer);
  expect(result).toMatchObject({ mode: 0x1f, exit_code: 5, id: blockIdToTl(head.id), shardblk: blockIdToTl(head.id) });
  expect(decodeCell(VmStack, parseBocRoot(result.result!))).toHaveLength(2);
  expect([result.lib_extras, result.shard_proof].map((part) => part?.length)).toEqual([0, 0]);
  expect(result.proof!.length).toBeGreaterThan(100);
  expect(result.state_proof!.length).toBeGreaterThan(100);
  const [run] = runs;
  expect(run).toMatchObject({ gas_limit: 300_000, method_id: 86535n });
  expect(run!.stack.map(shapeOfValue)).toEqual(ARGUMENTS.map(shapeOfValue));
  const [now, block_lt, trans_lt, rand_seed] = infoOf(result.init_c7!).slice(3);
  expect([now, block_lt, trans_lt, rand_seed]).toEqual(
    [head.gen_utime, head.end_lt, head.end_lt, SEED_NUMBER].map((value) => vmInt(value)),
  );
});

it('a contract finds itself, the network and blocks before in c7, and servers show a short form unless asked', async () => {
  const runs: GetMethodRun[] = [];
  const shown = async (mode: number) => {
    const answer = await ask({ mode }, async (run) => {
      runs.push(run);
      return { exit_code: 0, stack: [] };
    });
    return decodeOne(LiteServerRunMethodResult, answer).init_c7;
  };
  const short = infoOf((await shown(8))!);
  const whole = infoOf((await shown(0x28))!);
  expect(await shown(0x20)).toBeNull();
  expect(short).toHaveLength(10);
  expect(short[9]).toEqual(VM_NULL);
  expect(whole).toHaveLength(18);
  expect(whole.slice(0, 9).map(shapeOfValue)).toEqual(short.slice(0, 9).map(shapeOfValue));
  expect(runs.map(({ c7 }) => shapeOfValue(c7))).toEqual(Array(3).fill(shapeOfValue(vmTuple([vmTuple(whole)]))));
  expect(shapeOfValue(whole[9]!)).toEqual(shapeOfValue(vmCell(runs[0]!.config)));
  expect(shapeOfValue(whole[10]!)).toEqual(shapeOfValue(vmCell(runs[0]!.code)));
  const [last, key, hundreds] = itemsOf(whole[13]!);
  const seqnos = (blocks: VmStackValue) => itemsOf(blocks).map((block) => itemsOf(block)[2]);
  expect(seqnos(last!)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((seqno) => vmInt(seqno)));
  expect([itemsOf(key!)[2], ...seqnos(hundreds!)]).toEqual([vmInt(0), vmInt(0)]);
  expect(itemsOf(key!)[3]).toEqual(vmInt(BigInt(`0x${toHex(ledger.zerostate.root_hash)}`)));
});

it('nothing is run where there is no account or workchain', async () => {
  const none = decodeOne(LiteServerRunMethodResult, await ask({ mode: 0x1f, account: NOBODY }, unused));
  expect(none.exit_code).toBe(-256);
  expect([none.state_proof, none.result].map((part) => part?.length)).toEqual([0, 0]);
  const nowhere = await ask({ account: { ...NOBODY, workchain: 5 } }, unused);
  expect(decodeOne(LiteServerAccountState, nowhere).state).toHaveLength(0);
});

it('what cannot be run is refused', async () => {
  expect(await refusalOf({ mode: 0x40 })).toMatch(/^-400 unsupported mode/);
  expect(await refusalOf({ params: new Uint8Array(65_536) })).toMatch(/^-400 more than 64k/);
  expect(await refusalOf({ params: Uint8Array.of(1, 2, 3) })).toMatch(/^-400 parameter list/);
});
