import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { Block } from '#formats/tlb/block.js';
import { accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import type { InMsg } from '#formats/tlb/block-messages.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { NewBlockBundle } from '#localnet/ledger/block-bundle.js';

/** Hashes in hex of the messages that callers have been given. */
const takenFrom = new WeakMap<NewBlockBundle, Set<string>>();

/**
 * Finds an injected message in a bundle: the block has set `created_lt` and `created_at`, so that its hash differs.
 * Of several that were given alike, each call finds another one. Null when the bundle does not have it.
 *
 * @param message the `int_msg_info` message as it was given
 */
export function takeInjectedMessage(bundle: NewBlockBundle, dest: Address, message: Cell): Cell | null {
  const { info } = decodeCell(Message, message);
  if (info.kind !== 'int_msg_info') return null;
  const taken = takenFrom.get(bundle) ?? new Set();
  takenFrom.set(bundle, taken);
  const { created_lt, created_at } = info;
  const prefix = accountPrefix(dest.hash);
  for (const { id, root } of [bundle.masterchain, ...bundle.shards]) {
    if (id.workchain !== dest.workchain || !shardContains(id.shard, prefix)) continue;
    for (const [, imported] of decodeCell(Block, root).extra.value.in_msg_descr.value) {
      const injected = messageOf(imported);
      if (injected === null || taken.has(toHex(injected.hash()))) continue;
      const value = decodeCell(Message, injected);
      if (value.info.kind !== 'int_msg_info') continue;
      const asGiven = encodeCell(Message, { ...value, info: { ...value.info, created_lt, created_at } });
      if (!bytesEqual(asGiven.hash(), message.hash())) continue;
      taken.add(toHex(injected.hash()));
      return injected;
    }
  }
  return null;
}

/** Injected messages are imported as if from another shard. */
function messageOf(imported: InMsg): Cell | null {
  return imported.kind === 'msg_import_fin' ? imported.in_msg.value.msg.cell : null;
}
