import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** As `expect(found, name).toEqual(wanted)`, for loops of many thousands: what is equal costs a fiftieth. */
export function expectEqual(found: unknown, wanted: unknown, name: string | undefined): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found, name).toEqual(wanted);
}
