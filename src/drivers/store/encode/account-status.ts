import type { AccountStatusName } from '#drivers/store/read/index-reads.js';

/** As numbers in columns and in {@link encodeState}. */
export const AccountStatusCode = { uninit: 0, active: 1, frozen: 2, nonexist: 3 } as const;
export type AccountStatusCode = (typeof AccountStatusCode)[AccountStatusName];

const NAMES: readonly AccountStatusName[] = ['uninit', 'active', 'frozen', 'nonexist'];

/** The name of a status in a column. */
export function accountStatusName(code: number): AccountStatusName {
  return NAMES[code & 3]!;
}
