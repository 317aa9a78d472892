import { endpointOf } from '#api/http/endpoint.js';
import type { Address } from '#formats/address/address.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { LocalNode, MinedIn } from '#localnet/node/local-node.js';

/** What a method works with during one request. */
export interface LocalnetContext {
  readonly node: LocalNode;
  /** Nanotons that an account has now: after the newest block of the node, or a newer one. */
  readonly balanceOf: (address: Address) => Promise<bigint>;
  /** Waits until a masterchain block is known to the reads of the other APIs, so that who asks them next finds it. */
  readonly untilKnown: (block: BlockId) => Promise<void>;
}

export const localnetEndpoint = endpointOf<LocalnetContext>();

/** What was made, when the reads of the other APIs know it. */
export async function onceVisible<Made extends MinedIn>(
  made: Promise<Made>,
  { untilKnown }: Pick<LocalnetContext, 'untilKnown'>,
): Promise<Made> {
  const done = await made;
  await untilKnown(done.block);
  return done;
}

/** What methods may take that make many blocks or copy a chain, in milliseconds: less than common clients wait (5 minutes). */
export const LONG_OPERATION_MS = 240_000;
