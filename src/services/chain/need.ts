import type { Need } from '#drivers/lite/lite-source.js';
import type { ProvenBlock } from '#services/chain/proven-blocks.js';

/** For the contents of a block. */
export function needOfBlock({ mc_seqno }: ProvenBlock): Need {
  return mc_seqno === null ? { kind: 'archive' } : { kind: 'block', seqno: mc_seqno };
}

/** For the state after a block. */
export function needOfState({ mc_seqno }: ProvenBlock): Need {
  return mc_seqno === null ? { kind: 'archive' } : { kind: 'state', seqno: mc_seqno };
}
