import type { TransactionResult } from '#drivers/tvm/transaction.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import type { Call } from '#services/chain/call.js';
import type { ContractSettings } from '#services/contracts/options.js';
import { type AccountView, type RunModules, type RunView, runOptions } from '#services/contracts/run-view.js';

/** A message from outside, and what it meets. */
export interface ExternalRun {
  readonly view: RunView;
  readonly account: AccountView;
  /** `ext_in_msg_info` */
  readonly message: Cell;
  /** Every signature counts as right. */
  readonly ignore_chksig: boolean;
}

/** An `Account` that there is not. */
const NO_ACCOUNT = encodeCell(Account, { kind: 'account_none' });

/**
 * Executes a message from outside on an account, as the next block would.
 *
 * @param cell the account, if it is to be another one than in the view
 * @throws tvm/*, chain/*, lite/*
 */
export async function emulateExternal(
  call: Call,
  { view: { block, config }, account, message, ignore_chksig }: ExternalRun,
  settings: ContractSettings,
  { tvm, libraries, prevBlocks }: RunModules,
  cell: Cell | null = account.cell,
): Promise<TransactionResult> {
  const { last_transaction: last, shard_utime: now, shard_lt: lt } = account;
  return tvm.emulateTransaction(
    {
      // account_descr
      shard_account: new Builder()
        .storeRef(cell ?? NO_ACCOUNT)
        .storeBytes(last?.hash ?? new Uint8Array(32))
        .storeUint(last?.lt ?? 0n, 64)
        .endCell(),
      message,
      config: config.root,
      now,
      lt: lt ?? 0n,
      prev_blocks_info: await prevBlocks.at(call, block, config),
      resolveLibrary: libraries.resolver(call, block),
      ignore_chksig,
    },
    runOptions(call, settings),
  );
}
