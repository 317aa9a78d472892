/** Exit codes of TVM (https://docs.ton.org/tvm/exit-codes), with what a reader can do about them. */
const COMPUTE: Readonly<Record<number, string>> = {
  0: 'success',
  1: 'success (alternative)',
  2: 'stack underflow',
  3: 'stack overflow',
  4: 'integer overflow or division by zero',
  5: 'integer out of the expected range',
  6: 'invalid opcode',
  7: 'type check error',
  8: 'cell overflow',
  9: 'cell underflow: the message or the data is shorter than the contract expects',
  10: 'dictionary error',
  11: 'unknown method, or an opcode that the contract does not know',
  12: 'fatal error of the TVM',
  13: 'out of gas',
  [-14]: 'out of gas',
  14: 'virtualization error',
  // Conventions of wallets and tokens that most contracts follow.
  33: 'wrong seqno of the wallet',
  34: 'wrong subwallet id',
  35: 'bad signature, or the message has expired',
  36: 'the message has expired',
  65535: 'unknown opcode (0xffff)',
};

/** Result codes of the action phase (https://docs.ton.org/tvm/exit-codes). */
const ACTION: Readonly<Record<number, string>> = {
  0: 'success',
  32: 'invalid list of actions',
  33: 'too many actions',
  34: 'invalid or unsupported action',
  35: 'invalid source address in an outbound message',
  36: 'invalid destination address in an outbound message',
  37: 'not enough coins',
  38: 'not enough extra currencies',
  39: 'the outbound message does not fit into a cell',
  40: 'cannot process a message: not enough coins for the fees, or it is too large',
  41: 'library reference is null',
  42: 'library change error',
  43: 'library limits exceeded',
  50: 'the state of the account is too large',
};

/** Why the compute phase was skipped (TL-B: ComputeSkipReason). */
const SKIPPED: Readonly<Record<string, string>> = {
  no_state: 'there is no contract at this address',
  bad_state: 'the state init does not fit the address',
  no_gas: 'not enough coins for gas',
  suspended: 'the account is suspended',
};

/** An exit code of the compute phase in words; null for codes that a contract gives its own meaning. */
export function exitCodeText(code: number): string | null {
  return COMPUTE[code] ?? null;
}

/** A result code of the action phase in words; null when it is not known. */
export function actionCodeText(code: number): string | null {
  return ACTION[code] ?? null;
}

/** Why a compute phase did not run. */
export function skipReasonText(reason: string): string {
  return SKIPPED[reason] ?? reason;
}
