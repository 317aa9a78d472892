import type { V3Context } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';

/** For a list that turned out empty: there may be nothing, or nothing may be known. @throws v3/masterchain-block-not-found */
export async function checkRound(mc_seqno: number, { network, query }: V3Context): Promise<void> {
  if (await network.index.hasRound(mc_seqno, query)) return;
  throw v3Errors['masterchain-block-not-found']({ mc_seqno });
}
