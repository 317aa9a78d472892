import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import type { Dialect } from '#api/v3/serialize/dialect.js';
import { decimal, listText } from '#api/v3/serialize/texts.js';
import type { IndexedVesting } from '#drivers/store/read/vesting-reads.js';

/** A contract as `/vesting` shows it. The answer names all of its addresses. */
export function vestingText(vesting: IndexedVesting, { nullable }: Dialect, addresses: AddressCollector): string {
  const { sender, owner } = vesting;
  return (
    `{"address":${addresses.add(vesting.address)},"start_time":${vesting.start_time}` +
    `,"total_duration":${vesting.total_duration},"unlock_period":${vesting.unlock_period}` +
    `,"cliff_duration":${vesting.cliff_duration}` +
    nullable('sender_address', sender === null ? null : addresses.add(sender)) +
    nullable('owner_address', owner === null ? null : addresses.add(owner)) +
    `,"total_amount":${decimal(vesting.total_amount)}` +
    `,"whitelist":${listText(vesting.whitelist.map((address) => addresses.add(address)).sort())}}`
  );
}
