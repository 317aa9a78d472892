import { describe, expect, it } from 'vitest';
import { AddressReadAhead } from '#api/v3/address-read-ahead.js';
import { accountDependency, ChangedKeys } from '#api/v3/answer-keys.js';
import { type AddressRow, AddressRowCache } from '#api/v3/kept-texts.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { parseAddress } from '#formats/address/address.js';
import { FakeIndex } from '#test/support/fake-index.js';

const RAW = `0:${'A'.repeat(64)}`;
const OTHER = `0:${'B'.repeat(64)}`;
const WANTED = { domains: true, tokens: false };

const accountOf = (raw: string) => parseAddress(raw).address;
const rowOf = (raw: string): AddressRow => ({
  ...{ keys: [accountDependency(accountOf(raw))], account: undefined, book: 'old', metadata: null, masters: [] },
});

/** Rows of both addresses, as of version 1; then a change of the first account. */
function changed() {
  let version = 1;
  const changes = new ChangedKeys();
  const rows = new AddressRowCache(1 << 20, changes, () => version);
  const index = new FakeIndex({});
  const ahead = new AddressReadAhead({ index, isTestnet: false, addressRows: rows }, rows);
  for (const raw of [RAW, OTHER]) rows.beginRead()(raw, 'toncenter', WANTED, rowOf(raw));
  const change = () => {
    version++;
    const nothing = { transactions: [], messages: [], traces: [], tokens: [], receivers: [], owners: [] };
    const touched = { ...nothing, accounts: [accountKey(addressBytes(accountOf(RAW)))] };
    changes.noteChanges(version, [{ touched, continued: [] }] as never);
    ahead.noteChange(changes.newest);
  };
  return { rows, index, ahead, change };
}

describe('rows of addresses that a change touched', () => {
  it('are read anew, and no others, before anybody asks for them', async () => {
    const { rows, index, ahead, change } = changed();
    change();
    await ahead.idle();
    expect(index.asked.map(([method, addresses]) => [method, addresses])).toEqual([['addressFacts', [accountOf(RAW)]]]);
    expect(rows.get(RAW, 'toncenter', WANTED)?.book).not.toBe('old');
    expect(rows.get(OTHER, 'toncenter', WANTED)?.book).toBe('old');
  });

  it('are not read while nobody asks for any', async () => {
    const { index, ahead, change } = changed();
    for (let i = 0; i < 100; i++) {
      change();
      await ahead.idle();
    }
    expect(index.asked.length).toBeLessThanOrEqual(50);
  });
});
