import type { Slice } from '#formats/cells/slice.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { cellRef, int32, uint8, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';

/** What came with the message that bounced: value, logical time, unix seconds. */
export const NewBounceOriginalInfo = record(
  '_ value:CurrencyCollection created_lt:uint64 created_at:uint32 = NewBounceOriginalInfo;',
  { value: CurrencyCollection, created_lt: uint64, created_at: uint32 },
);
export type NewBounceOriginalInfo = ValueOf<typeof NewBounceOriginalInfo>;

export const NewBounceComputePhaseInfo = record('_ gas_used:uint32 vm_steps:uint32 = NewBounceComputePhaseInfo;', {
  gas_used: uint32,
  vm_steps: uint32,
});
export type NewBounceComputePhaseInfo = ValueOf<typeof NewBounceComputePhaseInfo>;

/**
 * Body of a bounced message when the sender asked for the new format (`extra_flags` bit 0, global version 12).
 * `original_body` is the whole body with `extra_flags` bit 1, else its root without references. `bounced_by_phase`:
 * 0 compute skipped (`exit_code` -1 no state, -2 bad state, -3 no gas, -4 suspended), 1 compute failed, 2 action failed.
 */
export const NewBounceBody = record(
  'new_bounce_body#fffffffe original_body:^Cell original_info:^NewBounceOriginalInfo bounced_by_phase:uint8 exit_code:int32 compute_phase:(Maybe NewBounceComputePhaseInfo) = NewBounceBody;',
  {
    original_body: cellRef,
    original_info: ref(NewBounceOriginalInfo),
    bounced_by_phase: uint8,
    exit_code: int32,
    compute_phase: maybe(NewBounceComputePhaseInfo),
  },
);
export type NewBounceBody = ValueOf<typeof NewBounceBody>;

const OLD_PREFIX = 0xffffffff;

/** What a bounced message says about the one that did not go through. */
export type BounceBody =
  /** The old format: what is left of the original body, its first 256 bits at most. */
  | { readonly format: 'old'; readonly original_body: Slice }
  | { readonly format: 'new'; readonly body: NewBounceBody }
  /** Bounced with an empty body, as messages are whose value did not pay for one, or with something else. */
  | { readonly format: 'none' };

/**
 * Reads the body of a message that has `bounced` set. The slice is not moved.
 * @throws as decoding `NewBounceBody`
 */
export function readBounceBody(body: Slice): BounceBody {
  const slice = body.clone();
  if (slice.remainingBits < 32) return { format: 'none' };
  const prefix = slice.preloadUint(32);
  if (prefix === OLD_PREFIX) return { format: 'old', original_body: slice.skip(32) };
  if (prefix !== NewBounceBody.line.tag) return { format: 'none' };
  const value = NewBounceBody.load(slice);
  slice.end();
  return { format: 'new', body: value };
}
