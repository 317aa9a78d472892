import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import type { InMsg } from '#formats/tlb/in-msg.js';
import { Message } from '#formats/tlb/message.js';
import { accountPrefix, shardContains } from '#formats/tlb/shard-ident.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import type { Round } from '#localnet/ledger/round.js';

/**
 * The message of an intervention as a round has it: its block has set `created_lt` and `created_at`, so that its hash
 * is another one. Null: the round does not have it.
 *
 * @param message an `int_msg_info`, as it was to be sent
 */
export function messageInRound(round: Round, dest: Address, message: Cell): Cell | null {
  const { info } = decodeCell(Message, message);
  if (info.kind !== 'int_msg_info') return null;
  const { created_lt, created_at } = info;
  const prefix = accountPrefix(dest.hash);
  for (const { id, root } of [round.masterchain, ...round.shards]) {
    if (id.workchain !== dest.workchain || !shardContains(id.shard, prefix)) continue;
    for (const [, imported] of decodeCell(Block, root).extra.value.in_msg_descr.value) {
      const found = messageOf(imported);
      if (found === null) continue;
      const value = decodeCell(Message, found);
      if (value.info.kind !== 'int_msg_info') continue;
      const asGiven = encodeCell(Message, { ...value, info: { ...value.info, created_lt, created_at } });
      if (bytesEqual(asGiven.hash(), message.hash())) return found;
    }
  }
  return null;
}

/** Messages of interventions come in as those from other shards do. */
function messageOf(imported: InMsg): Cell | null {
  return imported.kind === 'msg_import_fin' ? imported.in_msg.value.msg.cell : null;
}
