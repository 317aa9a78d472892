import { defineErrors } from '#kernel/tern-error.js';

/** Errors of subscriptions and connections of the streaming API. */
export const streamErrors = defineErrors('stream', {
  request: {
    class: 'caller',
    message: (d: { problem: string }) => `invalid subscription request: ${d.problem}`,
    remedy: 'Send one JSON object as the guide to streaming describes it.',
  },
  subscription: {
    class: 'caller',
    message: (d: { field: string; problem: string }) => `${d.field}: ${d.problem}`,
    remedy: 'Correct the named field of the subscription.',
  },
  cursor: {
    class: 'caller',
    message: (d: { problem: string }) => `the cursor (resume_from, Last-Event-ID) cannot be resumed from: ${d.problem}`,
    remedy: 'Give the cursor of an event as it was received, of the same network; or subscribe without one.',
  },
  'cursor-too-old': {
    class: 'not-found',
    message: (d: { seqno: number; from: number }) =>
      `the cursor (resume_from, Last-Event-ID) cannot be resumed from: it is at masterchain block ${d.seqno}, and the index reaches back to ${d.from}`,
    remedy: 'Read what lies before from another index, then subscribe without a cursor.',
  },
  'too-many-connections': {
    class: 'overloaded',
    message: (d: { open: number }) => `connection limit reached: ${d.open} active connections`,
    remedy: 'Close other streams, subscribe to several accounts in one, or use a key with a larger plan.',
  },
  'too-many-addresses': {
    class: 'caller',
    message: (d: { found: number; most: number }) => `too many addresses: ${d.found} > max ${d.most}`,
    remedy: 'Subscribe to fewer accounts and traces, or use a key with a larger plan.',
  },
  'too-many-watched': {
    class: 'overloaded',
    message: (d: { most: number }) =>
      `the streams of this client, or of all, wait for more than ${d.most} accounts and traces`,
    remedy: 'Subscribe to fewer accounts, or later; the operator can raise --max-stream-accounts.',
  },
  'too-many-replays': {
    class: 'overloaded',
    message: () => 'too many streams are being resumed',
    remedy: 'Resume again in some seconds.',
  },
  unavailable: {
    class: 'overloaded',
    message: (d: { problem: string }) => `no events can be read now: ${d.problem}`,
    remedy: 'Subscribe again when the index is readable; the health page shows its state.',
  },
});
