import { contractInterface } from '#domain/contracts/contract-interface.js';
import { type ContractView, type ViewedContract, verifyClaim } from '#domain/contracts/contract-view.js';
import { getMethod, MethodResult } from '#domain/contracts/get-method.js';
import { addressesOf, getOrderAddress, ORDER_LIBRARY } from '#domain/contracts/interfaces/multisig.js';
import { loadAccount, type NativeAccount, type NativeCode, nativeGetMethod } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';

/** An order of a multisig and its approvals. All but the first two are null until the multisig has initialised the order. */
interface MultisigOrderData {
  readonly multisig_address: Address;
  readonly order_seqno: bigint;
  readonly threshold: bigint | null;
  readonly sent_for_execution: boolean | null;
  /** The signers when the order was created. */
  readonly signers: readonly Address[] | null;
  /** Bit i: approval of the signer with index i. */
  readonly approvals_mask: bigint | null;
  readonly approvals_num: bigint | null;
  /** Unix seconds. */
  readonly expiration_date: bigint | null;
  /** `(Hashmap 8 ^OrderAction)`: see `orderActions`. */
  readonly order: Cell | null;
}

/**
 * `(slice multisig_address, int order_seqno, int threshold, int sent_for_execution, cell signers, int approvals_mask,
 * int approvals_num, int expiration_date, cell order) get_order_data()`
 */
export const getOrderData = getMethod('get_order_data', (stack): MultisigOrderData => {
  const result = new MethodResult('get_order_data', stack, 9);
  return {
    multisig_address: result.account(),
    order_seqno: result.int(),
    threshold: result.orNull((one) => one.int64()),
    sent_for_execution: result.orNull((one) => one.flag()),
    signers: signersOf(result.cellOrNull()),
    approvals_mask: result.orNull((one) => one.int()),
    approvals_num: result.orNull((one) => one.int64()),
    expiration_date: result.orNull((one) => one.int64()),
    order: result.cellOrNull(),
  };
});

function signersOf(root: Cell | null): readonly Address[] | null {
  return root === null ? null : addressesOf('get_order_data', root);
}

/**
 * `multisig_address:MsgAddress order_seqno:uint256`, and after the initialisation by the multisig `threshold:uint8
 * sent_for_execution:Bool signers:^(Hashmap 8 …) approvals_mask:uint256 approvals_num:uint8 expiration_date:uint48
 * order:^Cell`
 */
function readOrder({ data }: NativeAccount): MultisigOrderData {
  const slice = openCell(data);
  const multisig_address = loadAccount(slice);
  const order_seqno = slice.loadUintBig(256);
  if (slice.remainingBits === 0) {
    const nothing = { threshold: null, sent_for_execution: null, signers: null, approvals_mask: null };
    return { multisig_address, order_seqno, ...nothing, approvals_num: null, expiration_date: null, order: null };
  }
  const threshold = BigInt(slice.loadUint(8));
  const sent_for_execution = slice.loadBit();
  const signers = signersOf(slice.loadRef());
  const approvals_mask = slice.loadUintBig(256);
  const approvals_num = BigInt(slice.loadUint(8));
  const expiration_date = BigInt(slice.loadUint(48));
  const order = slice.loadRef();
  slice.end();
  const approvals = { approvals_mask, approvals_num, expiration_date };
  return { multisig_address, order_seqno, threshold, sent_for_execution, signers, ...approvals, order };
}

const codes: readonly NativeCode[] = [
  { hashes: [ORDER_LIBRARY], getMethods: [nativeGetMethod(getOrderData, readOrder)] },
];

async function read(view: ContractView, contract: ViewedContract): Promise<MultisigOrderData> {
  const data = await view.runGetMethod(contract, getOrderData);
  const { address } = contract;
  const by = data.multisig_address;
  await verifyClaim({ kind: 'multisig_order', address: address.toRaw(), by: by.toRaw() }, async () =>
    address.equals(await view.runGetMethod(await view.contract(by), getOrderAddress, data.order_seqno)),
  );
  return data;
}

/** An order of a multisig. The multisig confirms the address of the order. */
export const multisigOrder = contractInterface({
  name: 'multisig_order',
  methods: [[getOrderData.name]],
  codes,
  read,
  table: {
    name: 'multisig_orders',
    columns: {
      multisig: 'address',
      order_seqno: 'numeric',
      threshold: 'int8?',
      sent_for_execution: 'boolean?',
      approvals_mask: 'numeric?',
      approvals_num: 'int8?',
      expiration_date: 'int8?',
      order_boc: 'boc?',
      signers: 'addresses?',
    },
  },
  row: ({ multisig_address, order, ...same }) => ({ ...same, multisig: multisig_address, order_boc: order }),
});
