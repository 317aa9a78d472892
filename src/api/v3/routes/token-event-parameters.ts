import { Type } from '@sinclair/typebox';
import { jsonText } from '#api/http/json-text.js';
import type { V3Context } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, pageOf, rowsOf } from '#api/v3/page.js';
import { badValue, quoted } from '#api/v3/parameter-forms.js';
import { addressListParameter, pageFields, sortParameter, timeParameters } from '#api/v3/parameters.js';
import { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { dialectOf } from '#api/v3/serialize/dialect.js';
import { pageAddressesText } from '#api/v3/serialize/page-addresses.js';
import { listText } from '#api/v3/serialize/texts.js';
import type { TokenEventText } from '#api/v3/serialize/token-events.js';
import type { ListedTokenKind, TokenEventFilter } from '#drivers/store/read/token-events.js';
import type { Address } from '#formats/address/address.js';

/** Which way tokens go; as the live service, `both` says the same as nothing. */
export const directionParameter = Type.Optional(
  Type.Transform(
    Type.String({
      description:
        'With the owner: `in`: what the owner gets; `out`: what the owner gives away. Default: both. Without an owner it has ' +
        'no effect.',
      enum: ['in', 'out'],
    }),
  )
    .Decode((text): 'in' | 'out' | undefined => {
      if (text === 'in' || text === 'out') return text;
      if (text === 'both') return undefined;
      throw badValue(`${quoted(text)} is neither in nor out`);
    })
    .Encode((value) => value ?? 'both'),
);

/** The owner, by both names that clients know. @param what `jettons` */
export function ownerParameters(what: string) {
  return {
    owner_address: Type.Optional(addressListParameter(`Owner of the ${what}`)),
    address: Type.Optional(addressListParameter('The same as `owner_address`')),
  };
}

/** Bounds, page and order of a list of events. */
export const listParameters = {
  ...timeParameters('the transaction’s time', 'the transaction’s lt'),
  ...pageFields,
  sort: sortParameter('By the transaction’s lt, or by its time where a bound of time is given.'),
};

interface OwnerParameters {
  readonly owner_address?: readonly Address[] | undefined;
  readonly address?: readonly Address[] | undefined;
}

/** @throws v3/parameters */
export function checkEventParameters(params: Parameters<typeof checkPage>[0] & OwnerParameters): void {
  checkPage(params);
  if (params.owner_address === undefined || params.address === undefined) return;
  throw v3Errors.parameters({ problem: 'owner_address and address mean the same; give one of them' });
}

/** Reads a page of events and writes it as `{"member":[…],"address_book":{…},"metadata":{…}}`. */
export async function answerEvents<Kind extends ListedTokenKind>(
  kind: Kind,
  filter: TokenEventFilter,
  params: Parameters<typeof pageOf>[0],
  context: V3Context,
  write: { readonly member: string; readonly text: TokenEventText<Kind> },
) {
  const listed = await context.network.index.tokenEvents(kind, filter, pageOf(params, context), context.query);
  const addresses = new AddressCollector();
  const dialect = dialectOf(context.profile);
  const rows = rowsOf(listed, context).map((event) => write.text(event, dialect, addresses));
  return jsonText(`{"${write.member}":${listText(rows)},${await pageAddressesText(addresses, context)}}`);
}

/** The bounds among the parameters of a list. */
export function boundsOf({ start_utime, end_utime, start_lt, end_lt }: TokenEventFilter): TokenEventFilter {
  return { start_utime, end_utime, start_lt, end_lt };
}
