// What a worker thread of the pool runs.
import { parentPort, workerData } from 'node:worker_threads';
import { Emulator } from '#drivers/tvm/emulator.js';
import { readGetMethodOutput, readTransactionOutput } from '#drivers/tvm/emulator-output.js';
import type {
  FromWorker,
  GetMethodJob,
  Job,
  Reply,
  TransactionJob,
  WorkerStart,
} from '#drivers/tvm/worker-protocol.js';

const { module, configs, emulatorBytes } = workerData as WorkerStart;

/** Whole and shortened form of each. */
const instantiate = (): Promise<Emulator> => Emulator.instantiate(module, configs * 2);
let emulator: Emulator | null = await instantiate();

async function run(job: Job): Promise<FromWorker> {
  emulator ??= await instantiate();
  let reply: Reply;
  let memoryBytes = 0;
  try {
    reply = job.kind === 'get-method' ? runGetMethod(emulator, job) : emulate(emulator, job);
    memoryBytes = emulator.memoryBytes;
    if (memoryBytes > emulatorBytes) emulator = null;
  } catch (error) {
    // A trap, an exception of C++ (a number), or no memory: nothing is certain about the instance any more.
    emulator = null;
    reply = { kind: 'crashed', problem: error instanceof Error ? error.message : `exception ${String(error)}` };
  }
  return { reply, memoryBytes };
}

function runGetMethod(on: Emulator, job: GetMethodJob): Reply {
  const params = JSON.stringify({
    ...job.params,
    code: base64(job.code),
    data: base64(job.data),
    libs: job.libraries === null ? '' : base64(job.libraries),
    prev_blocks_info: job.prevBlocksInfo ?? '',
  });
  return readGetMethodOutput(on.runGetMethod(params, base64(job.stack), job.config), job.wantLog);
}

function emulate(on: Emulator, job: TransactionJob): Reply {
  const output = on.emulate({
    ...job,
    account: base64(job.account),
    message: job.message === null ? '' : base64(job.message),
  });
  return output === null
    ? { kind: 'refused', problem: 'it cannot read the configuration' }
    : readTransactionOutput(output);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Buffers that need not be copied on the way. */
function buffersOf(reply: Reply): ArrayBuffer[] {
  const all =
    reply.kind === 'transaction'
      ? [reply.transaction, reply.shardAccount, reply.actions]
      : reply.kind === 'get-method'
        ? [reply.stack]
        : [];
  return all.flatMap((each) => (each === null ? [] : [each.buffer as ArrayBuffer]));
}

const port = parentPort!;
port.on('message', (job: Job) => {
  void run(job).then((message) => {
    port.postMessage(message, 'reply' in message ? buffersOf(message.reply) : []);
  });
});
port.postMessage({ started: true } satisfies FromWorker);
