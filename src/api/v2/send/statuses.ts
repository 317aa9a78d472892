/** Codes of what can go wrong with sending besides a refusal by a node. */
export const SEND_FAILURES: readonly string[] = [
  'chain/message-refused',
  'chain/deadline',
  'lite/answer-error',
  'lite/not-available',
  'lite/not-connected',
  'lite/unanswered',
];
