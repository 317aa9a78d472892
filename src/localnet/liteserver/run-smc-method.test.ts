import { expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { decodeOne } from '#formats/tl/boxed.js';
import { LiteServerAccountState, LiteServerRunMethodResult } from '#formats/tl/generated/lite-server.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStack } from '#formats/tlb/vm-stack.js';
import { vmCell, vmInt } from '#formats/tlb/vm-value.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { toLiteError } from '#localnet/liteserver/errors.js';
import type { GetMethodRun, RunGetMethod } from '#localnet/liteserver/get-methods.js';
import { runSmcMethod } from '#localnet/liteserver/run-smc-method.js';
import { openReplay } from '#localnet/replay/open-replay.js';
import { contextOf } from '#test/support/genesis-ledger.js';
import { vectorPath } from '#test/support/shared-data.js';

const ledger = openReplay(vectorPath('recorded-chain'), { to: null, head: null });
const head = ledger.head!;
const ELECTOR = { workchain: -1, id: new Uint8Array(32).fill(0x33) };
const NOBODY = { workchain: -1, id: new Uint8Array(32).fill(0xab) };
const ARGUMENTS = [vmInt(7), vmCell(EMPTY_CELL)];

async function ask(changes: object, run: RunGetMethod) {
  const params = serializeBoc(encodeCell(VmStack, ARGUMENTS));
  const args = { mode: 4, id: blockIdToTl(head.id), account: ELECTOR, method_id: 86535n, params, ...changes };
  return await runSmcMethod(args, contextOf(ledger), run);
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
  expect(run).toMatchObject({ gas_limit: 300_000, method_id: 86535n, now: head.gen_utime });
  expect(run!.block_lt).toBe(head.end_lt);
  const { last_mc_blocks, prev_key_block, last_mc_blocks_100 } = run!.prev_blocks_info;
  expect(last_mc_blocks.map(({ seqno }) => seqno)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  expect(last_mc_blocks[0]).toEqual(blockIdFromTl(result.id));
  expect([prev_key_block.seqno, ...last_mc_blocks_100.map(({ seqno }) => seqno)]).toEqual([0, 0]);
  expect(last_mc_blocks[10]!.root_hash).toEqual(ledger.zerostate.root_hash);
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
  expect(await refusalOf({ method_id: 1n << 40n })).toMatch(/^-400 ids of methods/);
});
