import { defineErrors } from '#kernel/tern-error.js';

/** Errors of putting traces together: all of them mean that the caller broke an invariant. */
export const tracesErrors = defineErrors('traces', {
  'id-order': {
    class: 'internal',
    message: (d: { id: bigint; previous: bigint }) => `transaction ${d.id} was given after transaction ${d.previous}`,
    remedy:
      'Give the transactions of a batch in the order of their ids, each once; report this if you did not write the caller.',
  },
  finished: {
    class: 'internal',
    message: (d: { id: bigint }) => `transaction ${d.id} was given after the end of the batch`,
    remedy: 'Make a new assembler for each batch; report this if you did not write the caller.',
  },
  'join-order': {
    class: 'internal',
    message: (d: { parent: bigint; orphan: bigint }) =>
      `trace ${d.orphan} cannot continue trace ${d.parent}, whose root is not before its own`,
    remedy: 'Transaction ids must grow along a trace; check the index with `tern check` and report this.',
  },
  'joined-twice': {
    class: 'internal',
    message: (d: { orphan: bigint }) => `trace ${d.orphan} has two parents`,
    remedy:
      'An orphan stands once among the orphans, for one message; check the index with `tern check` and report this.',
  },
  'trace-missing': {
    class: 'internal',
    message: (d: { root: bigint }) => `there is no row of trace ${d.root}, which goes on or is joined`,
    remedy: 'Read the rows of all traces that go on or are joined; check the index with `tern check` and report this.',
  },
});
