import { defineErrors } from '#kernel/errors/define-errors.js';

/** Errors of the index. */
export const indexerErrors = defineErrors('indexer', {
  parameter: {
    class: 'caller',
    message: (d: { name: string; value: string; wanted: string }) => `${d.name} is ${d.value}, wanted is ${d.wanted}`,
    remedy: 'Give a value in the range.',
  },
  'block-missing': {
    class: 'upstream',
    message: (d: { wanted: string; round: number; problem: string }) =>
      `no server has ${d.wanted}, which round ${d.round} needs: ${d.problem}`,
    remedy:
      'Add a liteserver that keeps an archive (tern lite status tells how far back each one goes), or begin the index later. Until then it is asked for again.',
  },
  'block-unanswered': {
    class: 'upstream',
    message: (d: { wanted: string; round: number; problem: string }) =>
      `${d.wanted}, which round ${d.round} needs, did not come: ${d.problem}`,
    remedy: 'See with tern lite status how the servers are, or add others. Until then it is asked for again.',
  },
});
