import * as core from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { type OutAction, OutList } from '#formats/tlb/message.js';
import { toHex } from '#kernel/bytes.js';
import { itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { coreMessage, plainMessage } from '#test/support/core-shape.js';
import { errorCode } from '#test/support/error-code.js';

const code = core.beginCell().storeUint(1, 8).endCell();
const send: core.OutActionSendMsg = {
  type: 'sendMsg',
  mode: core.SendMode.PAY_GAS_SEPARATELY | core.SendMode.IGNORE_ERRORS,
  outMsg: core.internal({ to: core.Address.parseRaw(`0:${'11'.repeat(32)}`), value: 5n, body: code }),
};
const actions: core.OutAction[] = [
  send,
  { type: 'setCode', newCode: code },
  { type: 'reserve', mode: 2, currency: { coins: 10n ** 9n } },
  { type: 'changeLibrary', mode: 1, libRef: { type: 'hash', libHash: code.hash() } },
  { type: 'changeLibrary', mode: 2, libRef: { type: 'ref', library: code } },
];
const fromCore = (list: core.OutAction[]): Cell =>
  parseBocRoot(new Uint8Array(core.beginCell().store(core.storeOutList(list)).endCell().toBoc()));

function plain(action: OutAction): unknown {
  switch (action.kind) {
    case 'action_send_msg':
      return ['sendMsg', action.mode, plainMessage(action.out_msg.value)];
    case 'action_set_code':
      return ['setCode', toHex(action.new_code.hash())];
    case 'action_reserve_currency':
      return ['reserve', action.mode, action.currency.grams];
    case 'action_change_library':
      return [
        'changeLibrary',
        action.mode,
        action.libref.kind === 'libref_hash' ? toHex(action.libref.lib_hash) : toHex(action.libref.library.hash()),
      ];
  }
}

function corePlain(action: core.OutAction): unknown {
  switch (action.type) {
    case 'sendMsg':
      return ['sendMsg', action.mode, coreMessage(action.outMsg)];
    case 'setCode':
      return ['setCode', action.newCode.hash().toString('hex')];
    case 'reserve':
      return ['reserve', action.mode, action.currency.coins];
    case 'changeLibrary': {
      const { libRef } = action;
      return [
        'changeLibrary',
        action.mode,
        (libRef.type === 'hash' ? libRef.libHash : libRef.library.hash()).toString('hex'),
      ];
    }
  }
}

describe('OutList', () => {
  it.each([[[]], [actions.slice(0, 1)], [actions], [Array<core.OutAction>(255).fill(send)]])(
    'reads and writes the actions in the order of execution, as @ton/core does: %#',
    (list) => {
      const decoded = roundTrip(OutList, fromCore(list));
      expect(decoded.map(plain)).toEqual(list.map(corePlain));
    },
  );

  it('does not write a list deeper than cells may be', () => {
    const [action] = roundTrip(OutList, fromCore([{ type: 'setCode', newCode: core.Cell.EMPTY }])) as [OutAction];
    expect(errorCode(() => encodeCell(OutList, Array<OutAction>(2000).fill(action)))).toBe('cells/cell-depth');
  });

  const node = (prev: Cell, write: (builder: Builder) => Builder) => write(new Builder().storeRef(prev)).endCell();
  const unknown = node(EMPTY_CELL, (builder) => builder.storeUint(0x12345678, 32));
  itRefuses(OutList, [
    { id: 'an unknown action', cell: unknown, code: 'tlb/constructor-tag', path: '[last - 0]' },
    {
      id: 'an unknown action further down',
      cell: node(unknown, (builder) => builder.storeUint(0xad4de08e, 32).storeRef(EMPTY_CELL)),
      code: 'tlb/constructor-tag',
      path: '[last - 1]',
    },
    {
      id: 'bits after the action',
      cell: node(EMPTY_CELL, (builder) => builder.storeUint(0xad4de08e, 32).storeRef(EMPTY_CELL).storeBit(true)),
      code: 'cells/slice-not-empty',
      path: '[last - 0]',
    },
    {
      id: 'a list without previous one',
      cell: new Builder().storeUint(0xad4de08e, 32).endCell(),
      code: 'cells/slice-no-reference',
      path: '[last - 0]',
    },
  ]);
});
