import { describe, expect, it } from 'vitest';
import { parseSchemaLine } from '#formats/tlb/codec/record.js';

describe('parseSchemaLine', () => {
  it.each([
    {
      line: 'block_info#9bc7a987 version:uint32 not_master:(## 1) flags:(## 8) { flags <= 1 } { ~prev_seq_no + 1 = seq_no } gen_software:flags . 0?GlobalVersion prev_ref:^(BlkPrevInfo after_merge) = BlockInfo;',
      parsed: {
        name: 'block_info',
        tag: 0x9bc7a987,
        tagBits: 32,
        type: 'BlockInfo',
        fields: ['version', 'not_master', 'flags', 'gen_software', 'prev_ref'],
      },
    },
    {
      line: 'transaction$0111 account_addr:bits256 ^[ in_msg:(Maybe ^(Message Any)) out_msgs:(HashmapE 15 ^(Message Any)) ] total_fees:Grams = Transaction;',
      parsed: {
        name: 'transaction',
        tag: 0b0111,
        tagBits: 4,
        type: 'Transaction',
        fields: ['account_addr', 'in_msg', 'out_msgs', 'total_fees'],
      },
    },
    {
      line: '!merkle_update#04 {X:Type} old_hash:bits256 = MERKLE_UPDATE X;',
      parsed: { name: 'merkle_update', tag: 4, tagBits: 8, type: 'MERKLE_UPDATE X', fields: ['old_hash'] },
    },
    {
      line: '_ enqueued_lt:uint64 out_msg:^MsgEnvelope = EnqueuedMsg;',
      parsed: { name: '', tag: 0, tagBits: 0, type: 'EnqueuedMsg', fields: ['enqueued_lt', 'out_msg'] },
    },
    {
      line: 'account_active$1 _:StateInit = AccountState;',
      parsed: { name: 'account_active', tag: 1, tagBits: 1, type: 'AccountState', fields: ['_'] },
    },
    {
      line: 'account_none$0 = Account;',
      parsed: { name: 'account_none', tag: 0, tagBits: 1, type: 'Account', fields: [] },
    },
    {
      line: 'vm_stk_int#0201_ value:int257 = VmStackValue;',
      parsed: { name: 'vm_stk_int', tag: 0x0100, tagBits: 15, type: 'VmStackValue', fields: ['value'] },
    },
    {
      line: 'storage_used$_ cells:(VarUInteger 7) = StorageUsed;',
      parsed: { name: 'storage_used', tag: 0, tagBits: 0, type: 'StorageUsed', fields: ['cells'] },
    },
  ])('$line', ({ line, parsed }) => {
    expect(parseSchemaLine(line)).toEqual(parsed);
  });
});
