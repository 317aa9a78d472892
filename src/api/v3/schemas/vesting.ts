import { Type } from '@sinclair/typebox';
import { AddressBook } from '#api/v3/schemas/address-book.js';
import { address, decimal, integer, namedObject, nullable } from '#api/v3/schemas/fields.js';

export const VestingInfo = namedObject(
  'VestingInfo',
  {
    address: address('The contract.'),
    start_time: integer('When it begins, in unix seconds.'),
    total_duration: integer('Seconds until all is free.'),
    unlock_period: integer('Seconds from one part that becomes free to the next.'),
    cliff_duration: integer('Seconds at the beginning in which nothing becomes free.'),
    sender_address: nullable(address('Who gave the coins.')),
    owner_address: nullable(address('Who gets them.')),
    total_amount: decimal('Nanotons that are not free at the beginning.'),
    whitelist: Type.Array(Type.String(), {
      description: 'To whom coins may be sent that are not free yet; raw addresses, sorted as texts.',
    }),
  },
  'A wallet whose coins become free little by little.',
);

export const VestingContractsResponse = namedObject('VestingContractsResponse', {
  vesting_contracts: Type.Array(VestingInfo),
  address_book: AddressBook,
});
