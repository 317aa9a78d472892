import { type Address, beginCell, type Cell } from '@ton/core';

/** The hash of an external message that does not depend on how it is written (TEP-467), in base64. */
export function normalizedHash(destination: Address, body: Cell): string {
  // ext_in_msg_info$10 src:addr_none dest import_fee:0, no init, body in a reference
  const message = beginCell()
    .storeUint(0b10, 2)
    .storeUint(0, 2)
    .storeAddress(destination)
    .storeCoins(0)
    .storeBit(false);
  return message.storeBit(true).storeRef(body).endCell().hash().toString('base64');
}
