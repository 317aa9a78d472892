import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { hashmap } from '#formats/tlb/codec/inline-dictionary.js';
import { bits256, constrained, uint16, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { dependent, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { SigPubKey } from '#formats/tlb/signature.js';

/** A validator: its key, its share of all votes, and, in the form used today, its ADNL address. */
export const ValidatorDescr = union('ValidatorDescr', [
  variant('validator#53 public_key:SigPubKey weight:uint64 = ValidatorDescr;', {
    public_key: SigPubKey,
    weight: uint64,
  }),
  variant('validator_addr#73 public_key:SigPubKey weight:uint64 adnl_addr:bits256 = ValidatorDescr;', {
    public_key: SigPubKey,
    weight: uint64,
    adnl_addr: bits256,
  }),
]);
export type ValidatorDescr = ValueOf<typeof ValidatorDescr>;

/** `main` stands behind `total`, and must agree with it. */
const mainOf = dependent('total', (total: number) =>
  constrained(uint16, `1 <= main <= total (${total})`, (main) => main >= 1 && main <= total),
);

/**
 * Validators of a period (`utime_since` to `utime_until`, unix seconds), by their number; the first `main` of `total`
 * validate the masterchain. The schema does not say so, but the keys of `list` must be 0 to `total` - 1, no weight may be
 * 0, and `total_weight` must be their sum: the list is read lazily, and who relies on it has to check that.
 */
export const ValidatorSet = union('ValidatorSet', [
  variant(
    `validators#11 utime_since:uint32 utime_until:uint32 total:(## 16) main:(## 16) { main <= total } { main >= 1 }
      list:(Hashmap 16 ValidatorDescr) = ValidatorSet;`,
    {
      utime_since: uint32,
      utime_until: uint32,
      total: uint16,
      main: mainOf,
      list: hashmap(uintKey(16), ValidatorDescr),
    },
  ),
  variant(
    `validators_ext#12 utime_since:uint32 utime_until:uint32 total:(## 16) main:(## 16) { main <= total } { main >= 1 }
      total_weight:uint64 list:(HashmapE 16 ValidatorDescr) = ValidatorSet;`,
    {
      utime_since: uint32,
      utime_until: uint32,
      total: uint16,
      main: mainOf,
      total_weight: uint64,
      list: hashmapE(uintKey(16), ValidatorDescr),
    },
  ),
]);
export type ValidatorSet = ValueOf<typeof ValidatorSet>;
