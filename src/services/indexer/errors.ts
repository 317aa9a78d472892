import { defineErrors } from '#kernel/tern-error.js';

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
  'thread-lost': {
    class: 'internal',
    message: (d: { problem: string }) => `a thread that writes the index was lost: ${d.problem}`,
    remedy: 'Nothing to do: another one takes its work. If it happens again and again, give the process more memory.',
  },
  unexpected: {
    class: 'internal',
    message: (d: { problem: string }) => `rounds could not be written: ${d.problem}`,
    remedy: 'This is a fault of Tern: please report it with the sentence. It is tried again from time to time.',
  },
  stopped: {
    class: 'shutting-down',
    message: () => 'the index is being stopped, or another process writes it now',
    remedy: 'Nothing to do: what is written is whole, and the rest follows when it goes on.',
  },
  'contract-out-of-gas': {
    class: 'caller',
    message: (d: { address: string; method: string }) => `${d.method} of ${d.address} used up all gas`,
    remedy: 'Nothing to do: the index tells nothing of a contract that does not come to an end.',
  },
  'contract-too-large': {
    class: 'caller',
    message: (d: { address: string; method: string; bytes: number; most: number }) =>
      `${d.method} of ${d.address} answers with ${d.bytes} bytes; at most ${d.most} are kept`,
    remedy: 'Nothing to do: the index tells nothing of a contract that answers so much.',
  },
  'contract-unsteady': {
    class: 'caller',
    message: (d: { address: string; method: string }) =>
      `${d.method} of ${d.address} answers one thing now and another later`,
    remedy: 'Nothing to do: who changes its answer vouches for nobody.',
  },
  'contract-incomplete': {
    class: 'upstream',
    message: (d: { address: string }) => `of the account ${d.address} not all is known yet`,
    remedy: 'Nothing to do: servers are asked for the rest, and who names it is looked at again.',
  },
  'check-range': {
    class: 'caller',
    message: (d: { from: number; to: number; indexed: string }) =>
      `of the masterchain blocks ${d.from} to ${d.to} none is indexed; indexed are ${d.indexed}`,
    remedy: 'Give a range that is indexed, or none for all that is.',
  },
});
