import { BLOCK_ID_TYPE } from '#api/v2/schemas/ton-objects.js';
import { STACK_TYPE } from '#api/v2/stack/type-names.js';

/** What live services call types that have another name in the `spec` profile. */
export const V2_TYPE_NAMES: Readonly<Record<string, string>> = {
  [BLOCK_ID_TYPE]: 'ton.blockIdExt',
  ...Object.fromEntries(Object.values(STACK_TYPE).map((name) => [name, `t${name}`])),
};
