import { TvmPool } from '../src/drivers/tvm/tvm-pool.js';
import { systemClock } from '../src/kernel/clock.js';
import { type RecordedCall, readCalls } from '../test/contract/emulate-recorded.js';
import { type ServedEmulation, serveEmulation } from '../test/support/served-emulation.js';
import { vectorPath } from '../test/support/vector-files.js';
import type { LatencyCase } from './latency.js';
import type { BenchSuite } from './suite.js';

let tvm: TvmPool | null = null;
let served: ServedEmulation | null = null;

const sizeOf = ({ response }: RecordedCall): number => Object.keys(response.body?.transactions ?? {}).length;

/** Recorded messages by what they do: a transfer of coins, one of jettons, and one with as many transactions as a swap. */
function recordedMessages(folder: string): ReadonlyMap<string, RecordedCall> {
  const answered = (file: string) =>
    readCalls(`${folder}/${file}.jsonl.br`).filter(
      ({ request, response }) => response.status === 200 && request.path.endsWith('emulateTrace'),
    );
  const plain = answered('emulate-cases').find((call) => sizeOf(call) === 2)!;
  const jetton = answered('emulate-tokens').find(({ name }) => name === 'jetton transfer, forward and comment')!;
  const long = answered('emulate-activity').find((call) => sizeOf(call) >= 8)!;
  return new Map([
    [`plain transfer (${sizeOf(plain)} transactions)`, plain],
    [`jetton transfer (${sizeOf(jetton)} transactions)`, jetton],
    [`as long as a swap (${sizeOf(long)} transactions)`, long],
  ]);
}

export const suite: BenchSuite = {
  name: 'emulate',
  cases: () => [],
  latencies: async () => {
    const folder = vectorPath('collection/recorded-live');
    tvm = new TvmPool({ workers: 2 }, { clock: systemClock });
    await tvm.start();
    served = await serveEmulation(`${folder}/chain`, tvm);
    const url = `${served.url}/api/emulate/v1/emulateTrace`;
    return Array.from(recordedMessages(folder), ([name, { request, response }]): LatencyCase => {
      const { boc } = request.body as { readonly boc: string };
      const body = JSON.stringify({ boc, with_actions: true, mc_block_seqno: response.body.mc_block_seqno });
      const call = async () => {
        const answer = await fetch(url, { method: 'POST', body });
        return answer.json();
      };
      return { name, unit: 'traces', inFlight: 1, call };
    });
  },
  close: async () => {
    await served?.close();
    await tvm?.close();
  },
};
