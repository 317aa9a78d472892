// A process of its own: a pool with the settings that users have, and calls that are timed.
import { poolOnSockets, seqnoRequest } from '../../test/support/lite-pool.js';
import { obey } from './peer-process.js';
import type { ClientCommand, ServerSpec } from './protocol.js';

let pool: ReturnType<typeof poolOnSockets> | null = null;
let next = 0;

async function open(servers: readonly ServerSpec[]): Promise<void> {
  const addresses = servers.map(({ publicKey, ...rest }) => ({
    ...rest,
    publicKey: Uint8Array.from(publicKey),
    slices: null,
  }));
  pool = poolOnSockets(addresses);
  pool.start();
  await pool.whenSettled(5_000);
}

async function sample(sampleMs: number, inFlight: number): Promise<number[]> {
  const durations: number[] = [];
  const end = performance.now() + sampleMs;
  const worker = async () => {
    for (let began = performance.now(); began < end; ) {
      const number = next++;
      // A name of its own keeps requests from sharing answers.
      await pool!.query(seqnoRequest(1 + (number % 97), { verifiedAs: String(number) }));
      const ended = performance.now();
      durations.push(ended - began);
      began = ended;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return durations;
}

obey((command: ClientCommand) => {
  if (command === 'close') return pool?.close();
  return 'open' in command ? open(command.open) : sample(command.sampleMs, command.inFlight);
});
