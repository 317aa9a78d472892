import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GetMethodRequest } from '#drivers/tvm/get-method.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { fromBase64 } from '#kernel/bytes.js';
import { keptReplay } from '#test/support/kept-replay.js';
import {
  type LoadedContract,
  REFUSED_BY_TONLIB,
  type RecordedRun,
  RUNS_THAT_DIFFER,
  readLoadedContracts,
} from '#test/support/tonlib-recordings.js';
import { fromTonlibEntry, shapeOfTonlib, shapeOfValue } from '#test/support/tonlib-stack.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const recordings = vectorPath('collection/recorded-net/tonlib-recordings.jsonl.br');
const chain = vectorPath('collection/recorded-net/chain');

const cellOf = (text: string): Cell | null => (text === '' ? null : parseBocRoot(fromBase64(text)!));

/** What the machine reads of a masterchain state. */
type Masterchain = Pick<GetMethodRequest, 'config' | 'libraries'>;

function masterchainOf(state: Cell): Masterchain {
  const { custom, totals } = decodeCell(ShardStateUnsplit, state);
  return { config: custom!.value.config.config.root!, libraries: totals.value.libraries.root };
}

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm({ maxWaiting: 4_000, queueTimeoutMs: 60_000 });
});
afterAll(() => pool.close());

/** Runs all again. */
async function compareAll(loaded: readonly LoadedContract[], masterchainAt: (seqno: number) => Masterchain) {
  let compared = 0;
  const refused: string[] = [];
  const differences: unknown[] = [];
  const compare = async ({ address, account }: LoadedContract, { request, response, desc, n }: RecordedRun) => {
    if (RUNS_THAT_DIFFER.has(n)) return;
    if (response['@type'] === 'error') {
      refused.push(response.message);
      return;
    }
    const { code, data, balance, sync_utime, block_id, extra_currencies } = account!;
    const result = await pool.runGetMethod({
      code: cellOf(code),
      data: cellOf(data),
      method: request.method.name ?? request.method.number!,
      stack: request.stack.map(fromTonlibEntry),
      address: parseAddress(address).address,
      now: sync_utime,
      // What tonlib says of an account that does not exist.
      balance: balance === '-1' ? 0n : BigInt(balance),
      extra_currencies: extra_currencies.map(({ id, amount }) => [id >>> 0, BigInt(amount)] as const),
      ...masterchainAt(block_id.seqno),
    });
    const found = [result.exit_code, result.gas_used, result.stack.map(shapeOfValue)];
    const wanted = [response.exit_code, response.gas_used, response.stack.map(shapeOfTonlib)];
    if (JSON.stringify(found) !== JSON.stringify(wanted)) differences.push({ n, desc, found, wanted });
    compared++;
  };
  const runs = loaded.flatMap((each) => each.runs.map((run) => [each, run] as const));
  // A client may have so many in the queue and no more.
  for (let from = 0; from < runs.length; from += 50) {
    await Promise.all(
      runs
        .slice(from, from + 50)
        .map(([each, run]) =>
          compare(each, run).catch((error) => differences.push({ n: run.n, desc: run.desc, error: String(error) })),
        ),
    );
  }
  return { compared, refused, differences };
}

describe('get methods as the real tonlib ran them agree in exit code, stack and gas', () => {
  it('in a sample, with the configuration of the zerostate', async () => {
    const masterchain = masterchainOf(parseBocRoot(readBytes(vectorPath('recorded-chain/zerostate-mc.boc'))));
    const loaded = readLoadedContracts(vectorPath('tvm/tonlib-get-methods.jsonl.gz'));
    expect(await compareAll(loaded, () => masterchain)).toEqual({ compared: 45, refused: [], differences: [] });
  });

  it('in all recordings', async () => {
    const ledger = keptReplay(chain, { to: 1_200, head: null });
    const masterchains = new Map<number, Masterchain>();
    const masterchainAt = (seqno: number): Masterchain => {
      const known = masterchains.get(seqno);
      if (known !== undefined) return known;
      const found = masterchainOf(ledger.state(ledger.lookup({ by: 'seqno', ...MASTERCHAIN_SHARD, seqno })!));
      masterchains.set(seqno, found);
      return found;
    };
    const { compared, refused, differences } = await compareAll(readLoadedContracts(recordings), masterchainAt);
    expect(differences).toEqual([]);
    expect(compared).toBe(2_319);
    const unknown = refused.filter((message) => !REFUSED_BY_TONLIB.some((known) => known.test(message)));
    expect(unknown).toEqual([]);
    expect(refused).toHaveLength(11);
  });
});
