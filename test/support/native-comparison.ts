import { dnsAnswerOf } from '#domain/contracts/dns-answer.js';
import { fullNameOf, labelOf } from '#domain/contracts/domain-item.js';
import { isClaimedOf, jettonMasterOf, jettonWalletOf, walletAddressOf } from '#domain/contracts/jetton.js';
import type { NativeAccount, NativeContract } from '#domain/contracts/native-contract.js';
import { tryNative } from '#domain/contracts/native-contracts.js';
import { itemAddressOf, itemContentOf, nftCollectionOf, nftItemOf } from '#domain/contracts/nft.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { vmCell, vmInt, vmSlice } from '#formats/tlb/vm-value.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** A get method, read natively and as the virtual machine gives it. */
export interface NativeMethod {
  readonly method: string;
  readonly stack: VmStack;
  /** Null: there is no such method. */
  readonly native: () => unknown;
  readonly parse: (stack: VmStack) => unknown;
}

const OWNERS = [7, 0x5a, 0xf3].map((byte) => Address.ofParts(0, new Uint8Array(32).fill(byte)));
const ITEM_CONTENT = new Builder().storeUint(5, 8).endCell();
const SELF = vmSlice(new Builder().storeUint(0, 8).endCell());

/** All get methods of a contract that are read natively. */
export function nativeMethods(contract: NativeContract, account: NativeAccount): NativeMethod[] {
  switch (contract.kind) {
    case 'jetton_master':
      return [
        { method: 'get_jetton_data', stack: [], native: () => contract.data(account), parse: jettonMasterOf },
        ...OWNERS.map((owner) => ({
          method: 'get_wallet_address',
          stack: [vmSlice(encodeCell(MsgAddress, owner))],
          native: () => contract.walletAddress(account, owner),
          parse: walletAddressOf,
        })),
      ];
    case 'jetton_wallet':
      return [
        { method: 'get_wallet_data', stack: [], native: () => contract.data(account), parse: jettonWalletOf },
        { method: 'is_claimed', stack: [], native: () => contract.isClaimed(account), parse: isClaimedOf },
      ];
    case 'nft_collection':
      return [
        { method: 'get_collection_data', stack: [], native: () => contract.data(account), parse: nftCollectionOf },
        ...[0n, 77n].map((index) => ({
          method: 'get_nft_address_by_index',
          stack: [vmInt(index)],
          native: () => contract.itemAddress(account, index),
          parse: itemAddressOf,
        })),
        {
          method: 'get_nft_content',
          stack: [vmInt(7), vmCell(ITEM_CONTENT)],
          native: () => contract.itemContent(account, 7n, ITEM_CONTENT),
          parse: itemContentOf,
        },
      ];
    case 'nft_item': {
      const { domain } = contract;
      return [
        { method: 'get_nft_data', stack: [], native: () => contract.data(account), parse: nftItemOf },
        {
          method: 'dnsresolve',
          stack: [SELF, vmInt(0)],
          native: () => domain?.records(account) ?? null,
          parse: (stack) => dnsAnswerOf(stack, 1),
        },
        { method: 'get_domain', stack: [], native: () => domain?.label(account) ?? null, parse: labelOf },
        { method: 'get_full_domain', stack: [], native: () => domain?.fullName(account) ?? null, parse: fullNameOf },
      ];
    }
  }
}

/** What a native reader gives, for comparing; `null` when it leaves the answer to the virtual machine. */
export function nativeShape({ native }: NativeMethod): unknown {
  return shape(tryNative(native));
}

const NO_METHOD = 11;

/** What a run gives, for comparing; null when there is no such method. */
export function runShape(
  { parse }: NativeMethod,
  { exit_code, stack }: { exit_code: number; stack: VmStack },
): unknown {
  if (exit_code === NO_METHOD) return null;
  if (exit_code !== 0) return `exit code ${exit_code}`;
  try {
    return shape(parse(stack));
  } catch (error) {
    if (isTernError(error)) return error.code;
    throw error;
  }
}

/** Cells by hash, addresses and bytes as text. */
function shape(value: unknown): unknown {
  if (value instanceof Cell) return `cell ${toHex(value.hash())}`;
  if (value instanceof Address) return value.toRaw();
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shape(part)]));
}
