import { describe, expect, it } from 'vitest';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { openCell } from '#formats/cells/slice.js';
import { NewBounceBody, readBounceBody } from '#formats/tlb/message.js';
import { itReads, itRefuses } from '#test/support/codec-harness.js';
import { errorOf } from '#test/support/error-code.js';

const original = new Builder().storeUint(0xf8a7ea5, 32).endCell();
// value 1 ton without other currencies, created_lt, created_at
const info = new Builder()
  .storeUint(4, 4)
  .storeUint(10 ** 9, 32)
  .storeBit(false)
  .storeUint(47n, 64)
  .storeUint(1700000000, 32)
  .endCell();
const head = () => new Builder().storeUint(0xfffffffe, 32).storeRef(original).storeRef(info);
const failed = head().storeUint(1, 8).storeInt(-14, 32).storeBit(true).storeUint(1337, 32).storeUint(21, 32).endCell();
const skipped = head().storeUint(0, 8).storeInt(-3, 32).storeBit(false).endCell();

describe('NewBounceBody', () => {
  itReads(NewBounceBody, [
    { id: 'compute failed', cell: failed },
    { id: 'compute skipped', cell: skipped },
  ]);
  itRefuses(NewBounceBody, [
    {
      id: 'the old format',
      cell: new Builder().storeUint(0xffffffff, 32).endCell(),
      code: 'tlb/constructor-tag',
      path: '',
    },
    {
      id: 'one without exit code',
      cell: head().storeUint(0, 8).endCell(),
      code: 'cells/slice-underflow',
      path: 'exit_code',
    },
  ]);
});

describe('readBounceBody', () => {
  it('reads the new format', () => {
    const read = readBounceBody(openCell(failed));
    if (read.format !== 'new') throw new TypeError(read.format);
    const { bounced_by_phase, exit_code, compute_phase, original_info, original_body } = read.body;
    expect([bounced_by_phase, exit_code, compute_phase]).toEqual([1, -14, { gas_used: 1337, vm_steps: 21 }]);
    expect(original_info.value.value.grams).toBe(10n ** 9n);
    expect(original_info.value.created_lt).toBe(47n);
    expect(original_info.value.created_at).toBe(1700000000);
    expect(openCell(original_body).loadUint(32)).toBe(0xf8a7ea5);
  });

  it('reads the old format, and leaves the slice where it was', () => {
    const slice = openCell(new Builder().storeUint(0xffffffff, 32).storeUint(0x1234, 16).endCell());
    const read = readBounceBody(slice);
    if (read.format !== 'old') throw new TypeError(read.format);
    expect(read.original_body.loadUint(16)).toBe(0x1234);
    expect(slice.bitOffset).toBe(0);
  });

  it('knows bodies that are neither', () => {
    expect(readBounceBody(openCell(EMPTY_CELL)).format).toBe('none');
    expect(readBounceBody(openCell(original)).format).toBe('none');
  });

  it('refuses leftovers', () => {
    const long = new Builder().storeSlice(openCell(skipped)).storeBit(true).endCell();
    expect(errorOf(() => readBounceBody(openCell(long))).code).toBe('cells/slice-not-empty');
  });
});
