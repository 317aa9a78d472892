import { contractDataErrors } from '#domain/contracts/errors.js';
import { type GetMethod, getMethod } from '#domain/contracts/get-method.js';
import { addressesOf, countInSequence } from '#domain/contracts/kinds/address-dictionary.js';
import { contractKind } from '#domain/contracts/kinds/contract-kind.js';
import { MethodResult } from '#domain/contracts/method-result.js';
import { type NativeAccount, type NativeCode, nativeAnswer } from '#domain/contracts/native-code.js';
import { deployedAddress, storeAddress } from '#domain/contracts/native-data.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { openCell } from '#formats/cells/slice.js';
import { vmInt } from '#formats/tlb/vm-value.js';
import { fromHex } from '#kernel/bytes/bytes.js';

/** Whom a multisig of version 2 belongs to. */
export interface MultisigData {
  /** -1: orders are numbered as those who make them like. */
  readonly next_order_seqno: bigint;
  /** How many of the signers have to agree. */
  readonly threshold: bigint;
  readonly signers: readonly Address[];
  /** Who may make orders without signing. */
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
    throw contractDataErrors['other-form']({ problem: `${threshold} of ${signers_num} signers cannot agree` });
  }
  countInSequence(proposers);
  return {
    next_order_seqno: anySeqno ? -1n : next_order_seqno,
    threshold,
    signers: addressesOf('get_multisig_data', signers),
    proposers: addressesOf('get_multisig_data', proposers),
  };
}

/** The library that orders refer to. */
export const ORDER_LIBRARY = '6305a8061c856c2ccf05dcb0df5815c71475870567cab5f049e340bcf59251f3';

const orderCode = new Builder().storeUint(2, 8).storeBytes(fromHex(ORDER_LIBRARY)!).endExotic();

/** Its data when it is deployed is `multisig_address:MsgAddress order_seqno:uint256`. */
function orderAddress({ address }: NativeAccount, order_seqno: bigint): Address {
  return deployedAddress(orderCode, storeAddress(new Builder(), address).storeUint(order_seqno, 256).endCell());
}

const codes: readonly NativeCode[] = [
  {
    hashes: ['d3d14da9a627f0ec3533341829762af92b9540b21bf03665fac09c2b46eabbac'],
    answers: [nativeAnswer(getMultisigData, readMultisig), nativeAnswer(getOrderAddress, orderAddress)],
  },
];

/** A multisig of version 2. */
export const multisig = contractKind({
  kind: 'multisig',
  methods: [[getMultisigData.name, getOrderAddress.name]],
  codes,
  read: (view, contract) => view.ask(contract, getMultisigData),
  table: {
    name: 'multisigs',
    columns: { next_order_seqno: 'numeric', threshold: 'int8', signers: 'addresses', proposers: 'addresses' },
  },
  row: (data) => data,
});
