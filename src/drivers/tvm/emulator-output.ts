import type { FailureReply, GetMethodReply, NotAcceptedReply, TransactionReply } from '#drivers/tvm/worker-protocol.js';

/** What the emulator's JSON says; one byte per character. */
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

/** The end of a longer log is what tells why a run failed. */
const MAX_LOG = 2 ** 18;

/**
 * Instructions that can reach what differs between a whole configuration and the parameters that the machine reads by
 * itself, or previous blocks: all that look into `c7[0]` at a place not fixed in them, take `c7` whole, or are about
 * these. Most get methods execute none.
 */
const SEES_CONFIG = / c7|CTR(X|MANY)|CONFIG|PARAM|PREV|GETGLOB 0|GETGLOBVAR/;

/** The exit code of a run that used all its gas. */
export const OUT_OF_GAS = -14;

/** @param json as {@link Emulator.runGetMethod} gives it */
export function readGetMethodOutput(json: string, wantLog: boolean): GetMethodReply | FailureReply {
  const output = readOutput(json);
  if ('kind' in output) return output;
  if (!output.success) return { kind: 'refused', problem: output.error ?? 'it does not say why' };
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

/** @param json as {@link Emulator.emulate} gives it */
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
  const problem = output.error ?? 'it does not say why';
  const exitCode = output.vm_exit_code ?? null;
  // An external message that the account cannot even pay for is told by the text alone.
  const accepted = exitCode === null && !/message rejected by/.test(problem);
  return accepted ? { kind: 'refused', problem } : { kind: 'not-accepted', problem, exitCode, log };
}

function readOutput(json: string): Output | FailureReply {
  const parsed = JSON.parse(json) as { output?: Output; message?: string };
  if (parsed.output !== undefined) return parsed.output;
  return { kind: 'refused', problem: parsed.message ?? 'it does not say why' };
}

/** A copy with a buffer of its own, to be handed to another thread. */
function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

function logText(log: string): string {
  const end = log.length > MAX_LOG ? `(…)${log.slice(-MAX_LOG)}` : log;
  return Buffer.from(end, 'latin1').toString('utf8');
}
