import type { LogLevel } from '#drivers/tvm/request-fields.js';
import type { TransactionResult } from '#drivers/tvm/transaction.js';
import type { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { NO_ACCOUNT, type StateInit, shardAccountCell } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import type { ReadContext } from '#services/chain/read-context.js';
import type { ContractSettings } from '#services/emulation/options.js';
import {
  type AccountView,
  type EmulationModules,
  type NetworkView,
  runOptions,
} from '#services/emulation/run-environment.js';

/**
 * Encodes an external-in message with the layout of the reference implementation: everything in one cell, with the body in a
 * separate cell only if it does not fit.
 */
export function encodeExternalInMessage(dest: Address, init: StateInit | null, body: Cell): Cell {
  const info = { kind: 'ext_in_msg_info', src: null, dest, import_fee: 0n } as const;
  const inlineBody = body.type === CellType.ordinary ? ({ kind: 'left', value: openCell(body) } as const) : null;
  const ownBody = { kind: 'right', value: body } as const;
  const inlineInit = init === null ? null : ({ kind: 'left', value: init } as const);
  const room = roomBeside({ info, init: inlineInit, body: { kind: 'left', value: openCell(EMPTY_CELL) } });
  const fits = inlineBody !== null && body.bits <= room.bits && body.refCount <= room.refs;
  return encodeCell(Message, { info, init: inlineInit, body: fits ? inlineBody : ownBody });
}

function roomBeside(message: Message): { readonly bits: number; readonly refs: number } {
  const builder = new Builder();
  Message.store(message, builder);
  return { bits: builder.remainingBits, refs: builder.remainingRefs };
}

/** An external-in message with network and account state. */
export interface ExternalMessageRun {
  readonly view: NetworkView;
  readonly account: AccountView;
  /** `ext_in_msg_info` */
  readonly message: Cell;
  /** All signature checks succeed. */
  readonly ignore_chksig: boolean;
  /** Default: `short`. */
  readonly log_level?: LogLevel;
}

/**
 * Executes an external-in message on an account, as the next block would.
 *
 * @param cell the `Account` to use instead of that of `account`
 * @throws tvm/*, chain/*, lite/*
 */
export async function emulateExternalMessage(
  context: ReadContext,
  { view: { block, config }, account, message, ignore_chksig, log_level = 'short' }: ExternalMessageRun,
  settings: ContractSettings,
  { tvm, libraries, prevBlocks }: EmulationModules,
  cell: Cell | null = account.cell,
): Promise<TransactionResult> {
  const { last_transaction: last, shard_utime: now, shard_lt: lt } = account;
  return tvm.emulateTransaction(
    {
      shard_account: shardAccountCell(cell ?? NO_ACCOUNT, last),
      message,
      config: config.root,
      now,
      lt: lt ?? 0n,
      prev_blocks_info: await prevBlocks.at(context, block, config),
      resolveLibrary: libraries.resolver(context, block),
      ignore_chksig,
      log_level,
    },
    runOptions(context, settings),
  );
}
