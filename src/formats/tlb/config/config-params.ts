import type { Cell } from '#formats/cells/cell.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { type Dictionary, hashmapRef } from '#formats/tlb/codec/dictionary.js';
import { intKey } from '#formats/tlb/codec/dictionary-key.js';
import { bits256, cellRef } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';

/** All parameters of the configuration by number, each a cell of its own. */
export type ConfigDictionary = Dictionary<number, Cell>;

/** The address of the configuration contract in the masterchain, and the configuration. */
export const ConfigParams = record('_ config_addr:bits256 config:^(Hashmap 32 ^Cell) = ConfigParams;', {
  config_addr: bits256,
  config: hashmapRef(intKey(32), cellRef),
});
export type ConfigParams = ValueOf<typeof ConfigParams>;
