import { contractDataErrors } from '#domain/contracts/errors.js';
import type { Address } from '#formats/address/address.js';
import { accountOf } from '#formats/address/msg-address.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-iterate.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';

const INDEX_BITS = 8;
/** All keys and the forks above them. */
const VISITS = 2 ** (INDEX_BITS + 1);

/**
 * Signers or proposers of a multisig, in the order of their index: `(Hashmap 8 MsgAddressInt)`; null is the empty one.
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

/** How many entries a dictionary of 8-bit keys has. @throws contract-data/other-form unless the keys are 0, 1, 2, … */
export function countInSequence(root: Cell | null): number {
  let next = 0;
  const check = (key: Uint8Array) => {
    if (key[0] !== next++)
      throw contractDataErrors['other-form']({ problem: 'members are not numbered one after another' });
  };
  forEachEntry(root, INDEX_BITS, check, { limit: VISITS, plain: true });
  return next;
}
