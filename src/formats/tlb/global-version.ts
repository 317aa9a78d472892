import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';

/** Version of the rules of the network, or of a block's producer, and bits of what it supports. */
export const GlobalVersion = record('capabilities#c4 version:uint32 capabilities:uint64 = GlobalVersion;', {
  version: uint32,
  capabilities: uint64,
});
export type GlobalVersion = ValueOf<typeof GlobalVersion>;
