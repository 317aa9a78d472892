import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bits256, cellRef, uint, uint8 } from '#formats/tlb/codec/primitives.js';
import { variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';
import { MessageRelaxed } from '#formats/tlb/message.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** A library, by hash or whole. */
export const LibRef = union('LibRef', [
  variant('libref_hash$0 lib_hash:bits256 = LibRef;', { lib_hash: bits256 }),
  variant('libref_ref$1 library:^Cell = LibRef;', { library: cellRef }),
]);
export type LibRef = ValueOf<typeof LibRef>;

/** What a contract asks for: send a message, change its code, keep coins back, add or drop a library. */
export const OutAction = union('OutAction', [
  variant('action_send_msg#0ec3c86d mode:(## 8) out_msg:^(MessageRelaxed Any) = OutAction;', {
    mode: uint8,
    out_msg: ref(MessageRelaxed),
  }),
  variant('action_set_code#ad4de08e new_code:^Cell = OutAction;', { new_code: cellRef }),
  variant('action_reserve_currency#36e6b809 mode:(## 8) currency:CurrencyCollection = OutAction;', {
    mode: uint8,
    currency: CurrencyCollection,
  }),
  variant('action_change_library#26fa1dd4 mode:(## 7) libref:LibRef = OutAction;', { mode: uint(7), libref: LibRef }),
]);
export type OutAction = ValueOf<typeof OutAction>;

/**
 * The actions in c5 in the order in which they are carried out. In cells the last one is outermost; the length is not
 * stored, the empty cell ends the list. The node takes at most 255.
 * `out_list_empty$_ = OutList 0;`
 * `out_list$_ {n:#} prev:^(OutList n) action:OutAction = OutList (n + 1);`
 */
export const OutList: Codec<readonly OutAction[]> = {
  type: 'OutList',
  load: (slice) => {
    const actions: OutAction[] = [];
    let node: Slice = slice;
    while (!node.isEmpty) {
      const fromLast = actions.length;
      try {
        const prev = node.loadRef();
        actions.push(OutAction.load(node));
        node.end();
        node = openCell(prev);
      } catch (error) {
        throw isTernError(error) ? error.within(`[last - ${fromLast}]`) : error;
      }
    }
    return actions.reverse();
  },
  store: (actions, builder) => {
    const last = actions.at(-1);
    if (last === undefined) return;
    let list: Cell = EMPTY_CELL;
    for (const action of actions.slice(0, -1)) {
      const node = new Builder().storeRef(list);
      OutAction.store(action, node);
      list = node.endCell();
    }
    builder.storeRef(list);
    OutAction.store(last, builder);
  },
};
export type OutList = ValueOf<typeof OutList>;
