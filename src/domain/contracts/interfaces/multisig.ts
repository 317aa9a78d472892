import { contractInterface } from '#domain/contracts/contract-interface.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { type GetMethod, getMethod, MethodResult } from '#domain/contracts/get-method.js';
import {
  deployedAddress,
  type NativeAccount,
  type NativeCode,
  nativeGetMethod,
  storeAddress,
} from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { openCell } from '#formats/cells/slice.js';
import { accountOf, MsgAddress } from '#formats/tlb/msg-address.js';
import { vmInt } from '#formats/tlb/vm-stack.js';
import { fromHex } from '#kernel/bytes.js';

const INDEX_BITS = 8;
/** All keys and the forks above them. */
const VISITS = 2 ** (INDEX_BITS + 1);

/**
 * Signers or proposers of a multisig, in the order of their index: `(Hashmap 8 MsgAddressInt)`; null is the empty dictionary.
 *
 * @throws contract-data/method-result for an address that is no account; cells/*, tlb/*
 */
export function addressesOf(method: string, root: Cell | null): Address[] {
  const addresses: Address[] = [];
  forEachEntry(
    root,
    INDEX_BITS,
    (_, value) => {
      const address = accountOf(MsgAddress.load(value));
      if (address === null)
        throw contractDataErrors['method-result']({ method, problem: 'has a member without address' });
      addresses.push(address);
    },
    { limit: VISITS, plain: true },
  );
  return addresses;
}

/** Number of entries of a dictionary with 8-bit keys. @throws contract-data/other-form unless the keys are 0, 1, 2, … */
function countInSequence(root: Cell | null): number {
  let next = 0;
  const check = (key: Uint8Array) => {
    if (key[0] !== next++) throw contractDataErrors['other-form']({ problem: 'the keys are not consecutive' });
  };
  forEachEntry(root, INDEX_BITS, check, { limit: VISITS, plain: true });
  return next;
}

/** Signers and proposers of a multisig of version 2. */
interface MultisigData {
  /** -1: orders may have any seqno. */
  readonly next_order_seqno: bigint;
  /** Number of approvals that an order requires. */
  readonly threshold: bigint;
  readonly signers: readonly Address[];
  /** Who else may create orders. */
  readonly proposers: readonly Address[];
}

/** `(int next_order_seqno, int threshold, cell signers, cell proposers) get_multisig_data()` */
export const getMultisigData = getMethod('get_multisig_data', (stack): MultisigData => {
  const result = new MethodResult('get_multisig_data', stack, 4);
  return {
    next_order_seqno: result.int(),
    threshold: result.int64(),
    signers: addressesOf('get_multisig_data', result.cellOrNull()),
    proposers: addressesOf('get_multisig_data', result.cellOrNull()),
  };
});

/** `slice get_order_address(int order_seqno)` */
export const getOrderAddress: GetMethod<[order_seqno: bigint], Address> = {
  name: 'get_order_address',
  stack: (order_seqno) => [vmInt(order_seqno)],
  parse: (stack) => new MethodResult('get_order_address', stack, 1).account(),
};

/** `next_order_seqno:uint256 threshold:uint8 signers:^(Hashmap 8 …) signers_num:uint8 proposers:(HashmapE 8 …) allow_arbitrary_order_seqno:Bool` */
function readMultisig({ data }: NativeAccount): MultisigData {
  const slice = openCell(data);
  const next_order_seqno = slice.loadUintBig(256);
  const threshold = BigInt(slice.loadUint(8));
  const signers = slice.loadRef();
  const signers_num = slice.loadUint(8);
  const proposers = slice.loadBit() ? slice.loadRef() : null;
  const anySeqno = slice.loadBit();
  slice.end();
  if (countInSequence(signers) !== signers_num) {
    throw contractDataErrors['other-form']({ problem: `there are not ${signers_num} signers` });
  }
  if (threshold < 1n || threshold > BigInt(signers_num)) {
    throw contractDataErrors['other-form']({ problem: `the threshold is ${threshold} of ${signers_num} signers` });
  }
  countInSequence(proposers);
  return {
    next_order_seqno: anySeqno ? -1n : next_order_seqno,
    threshold,
    signers: addressesOf('get_multisig_data', signers),
    proposers: addressesOf('get_multisig_data', proposers),
  };
}

/** Hash of the library with the code of orders. */
export const ORDER_LIBRARY = '6305a8061c856c2ccf05dcb0df5815c71475870567cab5f049e340bcf59251f3';

const orderCode = new Builder().storeUint(2, 8).storeBytes(fromHex(ORDER_LIBRARY)!).endExotic();

/** The initial data of an order is `multisig_address:MsgAddress order_seqno:uint256`. */
function orderAddress({ address }: NativeAccount, order_seqno: bigint): Address {
  return deployedAddress(orderCode, storeAddress(new Builder(), address).storeUint(order_seqno, 256).endCell());
}

const codes: readonly NativeCode[] = [
  {
    hashes: ['d3d14da9a627f0ec3533341829762af92b9540b21bf03665fac09c2b46eabbac'],
    getMethods: [nativeGetMethod(getMultisigData, readMultisig), nativeGetMethod(getOrderAddress, orderAddress)],
  },
];

/** A multisig of version 2. */
export const multisig = contractInterface({
  name: 'multisig',
  methods: [[getMultisigData.name, getOrderAddress.name]],
  codes,
  read: (view, contract) => view.runGetMethod(contract, getMultisigData),
  table: {
    name: 'multisigs',
    columns: { next_order_seqno: 'numeric', threshold: 'int8', signers: 'addresses', proposers: 'addresses' },
  },
  row: (data) => data,
});
