import { defineErrors } from '#kernel/tern-error.js';

/** Errors of webhooks. */
export const webhookErrors = defineErrors('webhooks', {
  parameter: {
    class: 'caller',
    message: (d: { parameter: string; problem: string }) => `${d.parameter}: ${d.problem}`,
    remedy: 'Correct the parameter as the guide to webhooks describes it.',
  },
  'no-such-hook': {
    class: 'not-found',
    message: (d: { id: string }) => `there is no webhook ${d.id}`,
    remedy: 'Use an id that the list of webhooks shows.',
  },
  'too-many': {
    class: 'caller',
    message: (d: { most: number }) => `there are ${d.most} webhooks already`,
    remedy: 'Remove one, or have one receive the events of more accounts.',
  },
  target: {
    class: 'caller',
    message: (d: { problem: string }) => `url: ${d.problem}`,
    remedy: 'Use an https or http URL of a public server; the operator may allow private networks.',
  },
  'key-required': {
    class: 'caller',
    message: () => 'webhooks require an API key',
    remedy: 'Send an API key in X-API-Key; the operator of a server without keys can set --webhooks open.',
  },
  off: {
    class: 'not-found',
    message: () => 'this server has no webhooks',
    remedy: 'The operator switches them on with --webhooks keys; they require an index.',
  },
});
