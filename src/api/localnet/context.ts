import { endpointOf } from '#api/http/endpoint.js';
import type { Address } from '#formats/address/address.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { LocalNode, MinedIn } from '#localnet/node/local-node.js';

/** The context of a method during one request. */
export interface LocalnetContext {
  readonly node: LocalNode;
  /** The balance of an account in nanotons, as of the newest block of the node or a newer one. */
  readonly balanceOf: (address: Address) => Promise<bigint>;
  /** Waits until the other APIs serve a masterchain block. */
  readonly untilKnown: (block: BlockId) => Promise<void>;
}

export const localnetEndpoint = endpointOf<LocalnetContext>();

/** The result of a change, once the other APIs serve its block. */
export async function onceVisible<Made extends MinedIn>(
  made: Promise<Made>,
  { untilKnown }: Pick<LocalnetContext, 'untilKnown'>,
): Promise<Made> {
  const done = await made;
  await untilKnown(done.block);
  return done;
}

/** Deadline of methods that make many blocks or copy a chain, in milliseconds: less than common clients wait (5 minutes). */
export const LONG_OPERATION_MS = 240_000;
