import { MethodResult } from '#domain/contracts/method-result.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';

/** Results of `get_jetton_data` (TEP-74). */
export interface JettonMasterFields {
  readonly total_supply: bigint;
  readonly mintable: boolean;
  /** Null: nobody. */
  readonly admin_address: Address | null;
  readonly jetton_content: Cell;
  readonly jetton_wallet_code: Cell;
}

/** Results of `get_wallet_data` (TEP-74). */
export interface JettonWalletFields {
  readonly balance: bigint;
  readonly owner: Address;
  /** The master. */
  readonly jetton: Address;
  readonly jetton_wallet_code: Cell;
}

/**
 * `(int total_supply, int mintable, slice admin_address, cell jetton_content, cell jetton_wallet_code) get_jetton_data()`
 * @throws contract-data/method-result, cells/*, tlb/* when they are not of that form
 */
export function jettonMasterOf(stack: VmStack): JettonMasterFields {
  const result = new MethodResult('get_jetton_data', stack, 5);
  return {
    total_supply: result.int(),
    mintable: result.int() !== 0n,
    admin_address: result.accountOrNull(),
    jetton_content: result.cell(),
    jetton_wallet_code: result.cell(),
  };
}

/**
 * `(int balance, slice owner, slice jetton, cell jetton_wallet_code) get_wallet_data()`
 * @throws as {@link jettonMasterOf}
 */
export function jettonWalletOf(stack: VmStack): JettonWalletFields {
  const result = new MethodResult('get_wallet_data', stack, 4);
  return {
    balance: result.int(),
    owner: result.account(),
    jetton: result.account(),
    jetton_wallet_code: result.cell(),
  };
}

/** `slice get_wallet_address(slice owner_address)` @throws as {@link jettonMasterOf} */
export function walletAddressOf(stack: VmStack): Address {
  return new MethodResult('get_wallet_address', stack, 1).account();
}

/** `int is_claimed()` of mintless jettons (TEP-177): just one number. @throws contract-data/method-result */
export function isClaimedOf(stack: VmStack): boolean | null {
  return stack.length === 1 ? new MethodResult('is_claimed', stack, 1).int() !== 0n : null;
}
