import type { Address } from '#formats/address/address.js';
import type { ExternalInMessage } from '#formats/tlb/message.js';
import type { Finality, Invalidation, LiveTrace, LiveTraces } from '#services/pending/live-trace.js';

/** Where a message was seen first. Only `sent` and `pooled` ones have been checked by a node that this process reads from. */
export type MessageOrigin = 'sent' | 'pooled' | 'shared' | 'channel';

/** How far a message is. `accepted`: a node took it, and nothing is known yet of what follows from it. */
export type MessageStage = 'accepted' | Finality;

/** What is known of a message. */
export type MessageStatus =
  | {
      readonly kind: 'live';
      readonly stage: MessageStage;
      readonly external_hash: Uint8Array;
      readonly external_hash_norm: Uint8Array;
      readonly account: Address;
      /** Unix milliseconds of its first appearance. */
      readonly since: number;
      /** Null while there are no transactions. */
      readonly trace: LiveTrace | null;
    }
  | { readonly kind: 'ended'; readonly invalidation: Invalidation };

/** Live traces, and the messages that begin them. */
export interface LiveMessages extends LiveTraces {
  /** What is known of a message, by its raw or normalised hash, or by the id of its trace; null: nothing. */
  status(hash: Uint8Array): MessageStatus | null;
  /** Calls the listener after each change of {@link LiveMessages.status} of a hash. @returns ends that */
  watch(hash: Uint8Array, listener: () => void): () => void;
  /** Takes a message that a node has accepted. @returns whether it is followed: limits may be reached */
  submit(message: ExternalInMessage, origin: MessageOrigin): boolean;
  /** Remembers why nodes refused a message. */
  refused(message: ExternalInMessage, why: Pick<Invalidation, 'problem' | 'exit_code'>): void;
}
