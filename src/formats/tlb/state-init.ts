import type { Cell } from '#formats/cells/cell.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe } from '#formats/tlb/codec/composites.js';
import { type Dictionary, hashmapE } from '#formats/tlb/codec/dictionary.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { bool, cellRef, uint } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';

/** Which special transactions a contract of the masterchain gets in every block. */
export const TickTock = record('tick_tock$_ tick:Bool tock:Bool = TickTock;', { tick: bool, tock: bool });
export type TickTock = ValueOf<typeof TickTock>;

/** A library in an account; only the public ones of masterchain accounts are seen by others. The key is the hash of `root`. */
export const SimpleLib = record('simple_lib$_ public:Bool root:^Cell = SimpleLib;', { public: bool, root: cellRef });
export type SimpleLib = ValueOf<typeof SimpleLib>;

/** Libraries of an account by hash. */
export const SimpleLibs = hashmapE(bytesKey(32), SimpleLib);
export type SimpleLibs = Dictionary<Uint8Array, SimpleLib>;

/** Code, data and libraries of an account. */
export interface StateInit {
  /** Bits of the address that need not agree with the hash of this structure (called split_depth before); `null` is 0. */
  readonly fixed_prefix_length: number | null;
  readonly special: TickTock | null;
  readonly code: Cell | null;
  readonly data: Cell | null;
  /** Decoded when asked, as all dictionaries. */
  readonly library: SimpleLibs;
}

/**
 * Code, data and libraries of an account. Its hash is the address of an account that is deployed with it.
 * What the schema calls `(Maybe ^Cell)` in `library` is the root of a `(HashmapE 256 SimpleLib)`, which has the same bits.
 */
export const StateInit = record(
  '_ fixed_prefix_length:(Maybe (## 5)) special:(Maybe TickTock) code:(Maybe ^Cell) data:(Maybe ^Cell) library:(Maybe ^Cell) = StateInit;',
  {
    fixed_prefix_length: maybe(uint(5)),
    special: maybe(TickTock),
    code: maybe(cellRef),
    data: maybe(cellRef),
    library: SimpleLibs,
  },
);

/** The state of a contract without special flags and libraries. */
export function stateInitOf(code: Cell, data: Cell): StateInit {
  return { fixed_prefix_length: null, special: null, code, data, library: SimpleLibs.of([]) };
}
