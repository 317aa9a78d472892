import type { MatchContext } from '#domain/actions/pattern.js';
import type { NftItemFacts } from '#domain/actions/trace-facts.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { bytesEqual } from '#kernel/bytes.js';

/* Items that are domains of .ton. */

/** `outbid_notification`: a domain returns the previous bid. */
export const OUTBID = 0x557cea20;

const TON_COLLECTION = parseAddress('0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF').address;

/** Hash of the code of domains of .ton. */
const TON_ITEM_CODE = new Uint8Array(Buffer.from('i1/8nr/TkGTY1fVuRlnIJrt1k5I/XKSHKL5NYK9vUfk=', 'base64'));

/** Whether an item is a domain of .ton: of its collection on mainnet, or with its code on other networks. */
export function isDomainOfTon(item: Address, { collection }: NftItemFacts, context: MatchContext): boolean {
  if (collection?.equals(TON_COLLECTION)) return true;
  const code = context.contract(item)?.code_hash ?? null;
  return code !== null && bytesEqual(code, TON_ITEM_CODE);
}
