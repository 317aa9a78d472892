import { defineErrors } from '#kernel/tern-error.js';

/** Errors of trace assembly: each means that the caller broke an invariant. */
export const tracesErrors = defineErrors('traces', {
  'id-order': {
    class: 'internal',
    message: (d: { id: bigint; previous: bigint }) => `transaction ${d.id} was added after transaction ${d.previous}`,
    remedy:
      'Add the transactions of a batch in ascending order of id, each once; report this if you did not write the caller.',
  },
  finished: {
    class: 'internal',
    message: (d: { id: bigint }) => `transaction ${d.id} was added after the batch was finished`,
    remedy: 'Create a new assembler for each batch; report this if you did not write the caller.',
  },
  'join-order': {
    class: 'internal',
    message: (d: { parent: bigint; orphan: bigint }) =>
      `trace ${d.orphan} cannot be joined to trace ${d.parent}, whose root has a higher id`,
    remedy: 'Transaction ids must grow along a trace; check the index with `tern check` and report this.',
  },
  'joined-twice': {
    class: 'internal',
    message: (d: { orphan: bigint }) => `trace ${d.orphan} has two parents`,
    remedy:
      'Each orphan transaction has one inbound message and is listed once; check the index with `tern check` and report this.',
  },
  'trace-missing': {
    class: 'internal',
    message: (d: { root: bigint }) => `trace ${d.root}, which continues or is joined, has no row`,
    remedy:
      'Read the rows of all traces that continue or are joined; check the index with `tern check` and report this.',
  },
});
