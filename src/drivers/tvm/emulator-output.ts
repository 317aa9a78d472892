import type { FailureReply, GetMethodReply, NotAcceptedReply, TransactionReply } from '#drivers/tvm/worker-protocol.js';

/** The JSON output of the emulator; one byte per character. */
interface Output {
  readonly success: boolean;
  readonly error?: string;
  readonly stack: string;
  readonly gas_used: string;
  readonly vm_exit_code?: number;
  readonly vm_log?: string;
  readonly missing_library: string | null;
  readonly transaction: string;
  readonly shard_account: string;
  readonly actions: string | null;
}

/** Maximum log size; only the end of a longer log is returned, because it shows why a run failed. */
const MAX_LOG = 2 ** 18;

/**
 * Instructions that can access configuration parameters not read by the TVM setup, or previous blocks: those that read
 * `c7[0]` at a variable index, read the whole `c7`, or access these items directly. Most get methods execute none.
 */
const SEES_CONFIG = / c7|CTR(X|MANY)|CONFIG|PARAM|PREV|GETGLOB 0|GETGLOBVAR/;

/** Exit code of an out-of-gas run. */
export const OUT_OF_GAS = -14;

/** @param json as returned by {@link Emulator.runGetMethod} */
export function readGetMethodOutput(json: string, wantLog: boolean): GetMethodReply | FailureReply {
  const output = readOutput(json);
  if ('kind' in output) return output;
  if (!output.success) return { kind: 'refused', problem: output.error ?? 'no reason given' };
  const log = output.vm_log ?? '';
  return {
    kind: 'get-method',
    exitCode: output.vm_exit_code ?? 0,
    gasUsed: Number(output.gas_used),
    stack: bytesOf(output.stack),
    log: wantLog ? logText(log) : null,
    missingLibrary: output.missing_library,
    sawConfig: SEES_CONFIG.test(log),
  };
}

/** @param json as returned by {@link Emulator.emulate} */
export function readTransactionOutput(json: string): TransactionReply | NotAcceptedReply | FailureReply {
  const output = readOutput(json);
  if ('kind' in output) return output;
  const log = logText(output.vm_log ?? '');
  if (output.success) {
    return {
      kind: 'transaction',
      transaction: bytesOf(output.transaction),
      shardAccount: bytesOf(output.shard_account),
      actions: output.actions === null ? null : bytesOf(output.actions),
      log,
    };
  }
  const problem = output.error ?? 'no reason given';
  const exitCode = output.vm_exit_code ?? null;
  // Without funds for an external-in message there is no exit code, only the text.
  const accepted = exitCode === null && !/message rejected by/.test(problem);
  return accepted ? { kind: 'refused', problem } : { kind: 'not-accepted', problem, exitCode, log };
}

function readOutput(json: string): Output | FailureReply {
  const parsed = JSON.parse(json) as { output?: Output; message?: string };
  if (parsed.output !== undefined) return parsed.output;
  return { kind: 'refused', problem: parsed.message ?? 'no reason given' };
}

/** A copy with its own buffer, for transfer to another thread. */
function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

function logText(log: string): string {
  const end = log.length > MAX_LOG ? `(…)${log.slice(-MAX_LOG)}` : log;
  return Buffer.from(end, 'latin1').toString('utf8');
}
