import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseAddress } from '#formats/address/address.js';
import type { FeeEstimate } from '#services/emulation/contract-reads.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { type ReplayedContracts, replayedContracts } from '#test/support/replayed-contracts.js';
import {
  type LoadedContract,
  REFUSED_BY_TONLIB,
  type RecordedFees,
  type RecordedRun,
  RUNS_THAT_DIFFER,
  readLoadedContracts,
  readRecordedFees,
} from '#test/support/tonlib-recordings.js';
import { fromTonlibEntry, shapeOfTonlib, shapeOfValue } from '#test/support/tonlib-stack.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { vectorPath } from '#test/support/vector-files.js';

const recordings = vectorPath('collection/recorded-net/tonlib-recordings.jsonl.br');
const folder = vectorPath('collection/recorded-net/chain');

let tvm: TvmPool;
let contracts: ReplayedContracts;
beforeAll(async () => {
  tvm = await startTvm();
  contracts = replayedContracts(folder, tvm);
});
afterAll(() => tvm?.close());

/** Compares a run with what the service makes of it; null when they agree. */
async function differenceOf(
  { address, account }: LoadedContract,
  { n, desc, request, response }: RecordedRun,
  service: ReturnType<ReplayedContracts['serviceOver']>,
): Promise<unknown> {
  const { method, stack } = request;
  const at = account!.block_id.seqno;
  const name = method.name ?? method.number!;
  const read = await service.runGetMethod(parseAddress(address).address, name, stack.map(fromTonlibEntry), { at });
  const found = [read.block.seqno, read.exit_code, read.gas_used, read.stack.map(shapeOfValue)];
  const wanted = [at, response.exit_code, response.gas_used, response.stack.map(shapeOfTonlib)];
  return JSON.stringify(found) === JSON.stringify(wanted) ? null : { n, desc, found, wanted };
}

describe('what the service of contracts gives', () => {
  it('agrees with tonlib in exit code, stack and gas of all get methods', async () => {
    // tonlib's limit; the service of TON Center and this one have a higher one.
    const service = contracts.serviceOver({ getMethodGas: 1_000_000 });
    const differences: unknown[] = [];
    const refused: string[] = [];
    let compared = 0;
    for (const loaded of readLoadedContracts(recordings)) {
      for (const run of loaded.runs) {
        if (RUNS_THAT_DIFFER.has(run.n)) continue;
        if (run.response['@type'] === 'error') {
          refused.push(run.response.message);
          continue;
        }
        if (!FULL && run.n % 5 !== 0) continue;
        const difference = await differenceOf(loaded, run, service);
        if (difference !== null) differences.push(difference);
        compared++;
      }
    }
    expect(differences).toEqual([]);
    if (FULL) expect(compared).toBe(2_319);
    else expect(compared).toBeGreaterThan(400);
    expect(refused.filter((message) => !REFUSED_BY_TONLIB.some((known) => known.test(message)))).toEqual([]);
    expect(refused).toHaveLength(11);
    expect(service.metrics()).toMatchObject({ local_runs: compared, node_runs: 0 });
    expect(service.metrics().config_fetches).toBeLessThanOrEqual(3);
  });

  it('agrees with tonlib in the fees of messages', async () => {
    const service = contracts.serviceOver();
    const { chain, ledger } = contracts;
    const times = new Map<number, number>();
    for (let seqno = 1_000; seqno <= ledger.head!.id.seqno; seqno++) {
      times.set(seqno, (await chain.header({ at: seqno })).gen_utime);
    }
    const listOf = (fees: FeeEstimate) =>
      [fees.in_fwd_fee, fees.storage_fee, fees.gas_fee, fees.fwd_fee].map((fee) => Number(fee));
    /** Agrees as of one of the blocks that were the newest when tonlib was asked. */
    const agrees = async ({ time, question, fees }: RecordedFees): Promise<boolean> => {
      const newest = Math.max(...[...times].filter(([, gen_utime]) => gen_utime <= time).map(([seqno]) => seqno));
      for (let at = newest; at > newest - 4; at--) {
        const found = listOf(await service.estimateFee(question, { at }));
        if (JSON.stringify(found) === JSON.stringify(fees)) return true;
      }
      return false;
    };
    let agreed = 0;
    const differences: unknown[] = [];
    for (const recorded of partOf(readRecordedFees(recordings), 4)) {
      if (await agrees(recorded)) {
        agreed++;
        continue;
      }
      // tonlib runs an account without any coins as it is; here it has some, and may go another way until it refuses.
      const { account } = await chain.account(recorded.question.address);
      const coins = account?.kind === 'account' ? account.storage.balance.grams : 0n;
      const [in_fwd_fee, , , fwd_fee] = listOf(await service.estimateFee(recorded.question));
      const known = coins === 0n && in_fwd_fee === recorded.fees[0] && fwd_fee === recorded.fees[3];
      differences.push(known ? 'refused without coins' : recorded);
    }
    expect(differences.filter((each) => each !== 'refused without coins')).toEqual([]);
    expect([differences.length, agreed]).toEqual(FULL ? [16, 748] : [5, 186]);
  });
});
