// A TVM worker: an emulator in a thread of its own.
import { Emulator } from '#drivers/tvm/emulator.js';
import { readGetMethodOutput, readTransactionOutput } from '#drivers/tvm/emulator-output.js';
import { tvmErrors } from '#drivers/tvm/errors.js';
import {
  type GetMethodJob,
  type Job,
  JobOrder,
  type JobResult,
  type Reply,
  type TransactionJob,
  type TvmWorkerContract,
} from '#drivers/tvm/worker-protocol.js';
import { toBase64 } from '#kernel/bytes.js';
import { lowerPriority, ownCpuTimeReader, ownThreadCpuTime } from '#kernel/os-thread.js';
import { transfer } from '#kernel/worker-channel.js';
import { WorkerSide } from '#kernel/worker-side.js';

const side = new WorkerSide<TvmWorkerContract>({ unexpected: (problem) => tvmErrors.crashed({ problem }) });
const { module, nice, configs, emulatorBytes, maxEmulatorBytes } = side.start;
const begunAt = new Float64Array(side.start.begunAt);
const order = new Int32Array(side.start.order);
const cpuTime = ownThreadCpuTime();
lowerPriority(cpuTime, nice);
const usedMs = cpuTime === null ? () => performance.now() : ownCpuTimeReader(cpuTime);

/** Whole and shortened form of each. */
const instantiate = (): Promise<Emulator> =>
  Emulator.instantiate(module, {
    maxConfigs: configs * 2,
    maxBytes: maxEmulatorBytes,
    isCalledOff: () => order[0] === JobOrder.giveUp,
  });
let emulator: Emulator | null = null;

async function run(job: Job): Promise<JobResult> {
  const startedAt = usedMs();
  begunAt[0] = startedAt;
  const used = emulator ?? (await instantiate());
  emulator = used;
  let reply: Reply;
  try {
    reply = job.kind === 'get-method' ? runGetMethod(used, job) : emulate(used, job);
    if (used.isOutOfMemory) reply = { kind: 'out-of-memory', problem: 'an allocation failed' };
    if (used.isOutOfMemory || used.memoryBytes > emulatorBytes) emulator = null;
  } catch (error) {
    // A trap, an exception of C++ (a number), or no memory: nothing is certain about the instance any more.
    emulator = null;
    if (used.isInterrupted) {
      Atomics.store(order, 0, JobOrder.givenUp);
      reply = { kind: 'interrupted' };
      // Between two jobs, so that the next one does not pay for it.
      emulator = await instantiate();
    } else {
      const kind = used.isOutOfMemory ? 'out-of-memory' : 'crashed';
      reply = { kind, problem: error instanceof Error ? error.message : `exception ${String(error)}` };
    }
  }
  const cpuMs = Math.max(0, usedMs() - startedAt);
  return transfer({ reply, memoryBytes: used.memoryBytes, cpuMs }, buffersOf(reply));
}

function runGetMethod(on: Emulator, job: GetMethodJob): Reply {
  const params = JSON.stringify({
    ...job.params,
    code: toBase64(job.code),
    data: toBase64(job.data),
    libs: job.libraries === null ? '' : toBase64(job.libraries),
    prev_blocks_info: job.prevBlocksInfo ?? '',
  });
  return readGetMethodOutput(on.runGetMethod(params, toBase64(job.stack), job.config), job.wantLog);
}

function emulate(on: Emulator, job: TransactionJob): Reply {
  const output = on.emulate({
    ...job,
    account: toBase64(job.account),
    message: job.message === null ? '' : toBase64(job.message),
  });
  return output === null
    ? { kind: 'refused', problem: 'it cannot read the configuration' }
    : readTransactionOutput(output);
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

void side.serve(async () => {
  try {
    emulator = await instantiate();
  } catch (error) {
    throw tvmErrors['not-started']({ problem: error instanceof Error ? error.message : String(error) }, error);
  }
  return { ready: cpuTime, methods: { run } };
});
