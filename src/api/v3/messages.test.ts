import { expect, it } from 'vitest';
import { ChangedKeys } from '#api/v3/answer-keys.js';
import { touchedKeys } from '#drivers/store/event-log.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { Address } from '#formats/address/address.js';
import { v3Endpoint } from '#test/support/v3-method.js';

const account = (n: number) => Address.ofParts(0, new Uint8Array(32).fill(n));
const SENDER = account(1);
const RECEIVER = account(2);

const dependsOn = (params: object) => v3Endpoint('messages').depends!(params);

it('an answer with messages of a sender is not kept beyond one that no indexed transaction has sent', () => {
  const changes = new ChangedKeys();
  // Only what received the message is indexed.
  const touched = touchedKeys({
    transactions: [{ account_key: accountKey(addressBytes(RECEIVER)), hash_key: 1n, in_msg_key: 2n, trace_root: 3n }],
    messages: [{ msg_key: 2n, norm_key: null, destination_key: accountKey(addressBytes(RECEIVER)) }],
    senders: [accountKey(addressBytes(SENDER))],
    ...{ traces: [], tokens: [], owners: [] },
  });
  changes.noteChanges(8, [{ touched, continued: [] }]);
  const holds = (params: object) => {
    const keys = dependsOn(params);
    return keys !== null && changes.isUnchanged(keys, 7);
  };
  expect(holds({ source: SENDER })).toBe(false);
  expect(holds({ source: SENDER, destination: RECEIVER })).toBe(false);
  expect(holds({ source: SENDER, direction: 'in' })).toBe(false);
  expect(holds({ source: SENDER, destination: RECEIVER, direction: 'in' })).toBe(false);
  // Of others.
  expect(holds({ source: account(3) })).toBe(true);
  expect(holds({ destination: account(4) })).toBe(true);
  expect(holds({ source: SENDER, destination: account(4), direction: 'in' })).toBe(true);
});
