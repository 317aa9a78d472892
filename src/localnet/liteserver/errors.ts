import { defineErrors, isTernError } from '#kernel/tern-error.js';

/**
 * Errors of queries. `LITE_ERROR_CODES` has the code that a client receives for each; the message is sent unchanged.
 */
export const liteserverErrors = defineErrors('liteserver', {
  'bad-query': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Send a function of the lite API in liteServer.query, written as schemas/lite_api.tl says.',
  },
  'unknown-query': {
    class: 'caller',
    message: (_: Record<string, never>) => 'unknown query',
    remedy: 'Send a function of the lite API; liteServer.query may not hold another one.',
  },
  'not-allowed': {
    class: 'caller',
    message: (_: Record<string, never>) => 'query is not allowed',
    remedy: 'Query final blocks: this server has no others.',
  },
  'read-only': {
    class: 'caller',
    message: (_: Record<string, never>) =>
      'cannot apply external message to current state : this server serves a recorded chain, which no message can change',
    remedy: 'Send messages to a server of a network that is alive.',
  },
  'bad-message': {
    class: 'caller',
    message: (d: { problem: string }) => `cannot apply external message to current state : ${d.problem}`,
    remedy:
      'Send an external-in message (ext_in_msg_info) as a bag of cells, within the limits of configuration parameter 43.',
  },
  'message-not-accepted': {
    class: 'caller',
    message: (d: { account: string; exit_code: number | null; problem: string; log: string }) =>
      `cannot apply external message to current state : External message was not accepted: ${notAccepted(d)}`,
    remedy:
      'Check the exit code: for a wallet, 33 is a wrong seqno, 35 a wrong signature, 36 an expired valid_until; without an exit code there is no contract, or too little balance.',
  },
  'too-many-messages': {
    class: 'overloaded',
    message: (d: { waiting: number; of: string }) =>
      `cannot apply external message to current state : too many external messages: ${d.waiting} of ${d.of} wait for a block`,
    remedy: 'Send it again after the next blocks.',
  },
  'no-virtual-machine': {
    class: 'caller',
    message: (_: Record<string, never>) => 'runSmcMethod is not available: this server has no virtual machine',
    remedy: 'Get the account state, and run the method in the client.',
  },
  refused: {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Change the query: no server can answer this one.',
  },
  'broken-rule': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Use a newer masterchain block, or a committed block.',
  },
  'not-ready': {
    class: 'not-found',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Repeat the query later, or query another server.',
  },
  timeout: {
    class: 'not-found',
    message: (_: Record<string, never>) => 'timeout',
    remedy: 'Wait for an earlier block, or longer.',
  },
  internal: {
    class: 'internal',
    message: (d: { problem: string }) => `the query failed: ${d.problem}`,
    remedy: 'Report this together with the query.',
  },
});

function notAccepted(d: { account: string; exit_code: number | null; problem: string; log: string }): string {
  if (d.exit_code === null) return `cannot run message on account: ${d.problem}`;
  return `cannot run message on account: inbound external message rejected by transaction ${d.account}:\nexitcode=${d.exit_code}\nVM Log (truncated):\n...${d.log}`;
}

/**
 * `liteServer.error code:int`, as in the reference implementation; it uses -503 when a query exceeds its time limit.
 */
const LITE_ERROR_CODES: Readonly<Record<string, number>> = {
  'liteserver/bad-query': 0,
  'liteserver/unknown-query': 621,
  'liteserver/not-allowed': 0,
  'liteserver/read-only': 0,
  'liteserver/bad-message': 0,
  'liteserver/message-not-accepted': -701,
  'liteserver/too-many-messages': -701,
  'liteserver/no-virtual-machine': -400,
  'liteserver/refused': -400,
  'liteserver/broken-rule': 0,
  'liteserver/not-ready': 651,
  'liteserver/timeout': 652,
  'liteserver/internal': 602,
  'tvm/bad-request': -400,
  'tvm/timeout': -503,
  'tvm/overloaded': -503,
  'tvm/waited-too-long': -503,
};

/** The error that a client receives. */
export function toLiteError(error: unknown): { readonly code: number; readonly message: string } {
  if (!isTernError(error)) return { code: 602, message: 'the query failed' };
  if (error.code.startsWith('tl/')) return { code: 0, message: error.message };
  return { code: LITE_ERROR_CODES[error.code] ?? 602, message: error.message };
}
