import type { TSchema } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { decodeAccount } from '#api/v3/parameters.js';
import type { IndexedTokenEvent } from '#drivers/store/read/token-events.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { toBase64 } from '#kernel/bytes.js';
import { FakeIndex } from '#test/support/fake-index.js';
import { shapeProblems } from '#test/support/json-shape.js';
import { callV3, v3Endpoint } from '#test/support/v3-method.js';

const raw = (digit: string) => `0:${digit.repeat(64)}`;
const [OWNER, OTHER, WALLET, TOKEN] = ['A', 'B', 'C', 'D'].map((digit) => raw(digit)) as [
  string,
  string,
  string,
  string,
];
const [owner, other, account, token] = [OWNER, OTHER, WALLET, TOKEN].map(decodeAccount);
const comment = new Builder().storeUint(0, 32).storeUint(0x6869, 16).endCell();
const boc = toBase64(serializeBoc(comment, { crc32c: true }));
const hash = new Uint8Array(32).fill(1);
const base64 = toBase64(hash);

const place = { id: 5n, hash, lt: 2n ** 60n, now: 1_700_000_000, account: account!, source: owner! };
const whole: IndexedTokenEvent<'jetton_transfer'> = {
  ...{ ...place, kind: 'jetton_transfer', aborted: false, trace_id: hash, trace_root: 1n, token: token! },
  body: {
    ...{ query_id: 2n ** 64n - 1n, amount: 2n ** 100n, destination: other!, response_destination: owner! },
    ...{ custom_payload: comment, forward_ton_amount: 7n, forward_payload: comment },
  },
};
const burn: IndexedTokenEvent<'jetton_burn'> = {
  ...{ ...place, kind: 'jetton_burn', aborted: true, trace_id: null, trace_root: 1n, token: token! },
  body: { query_id: 0n, amount: 3n, response_destination: null, custom_payload: null },
};
const nft: IndexedTokenEvent<'nft_transfer'> = {
  ...{ ...place, kind: 'nft_transfer', aborted: false, trace_id: hash, trace_root: 1n, token: null },
  body: {
    ...{ query_id: 1n, new_owner: null, response_destination: other!, custom_payload: null },
    ...{ forward_amount: 0n, forward_payload: null },
  },
};
const index = new FakeIndex({ tokenEvents: [whole, burn, nft], next: 'abc' });
const ask = async (method: string, query = '', profile: 'spec' | 'toncenter' = 'toncenter') => {
  const answer = await callV3(method, query, { network: { index }, profile });
  expect([answer.error, answer.headers['X-Tern-Next']]).toEqual(['', 'abc']);
  // The types of the schema have no null.
  if (profile === 'spec') expect(shapeProblems(v3Endpoint(method).result as TSchema, answer.body)).toEqual([]);
  return answer.body;
};
const transaction = { transaction_hash: base64, transaction_lt: String(2n ** 60n), transaction_now: 1_700_000_000 };
const decoded = { '@type': 'text_comment', comment: 'hi', type: 'text_comment' };

describe('events of tokens', () => {
  it('are transfers of jettons', async () => {
    const { jetton_transfers, address_book } = await ask('jetton/transfers');
    expect(jetton_transfers).toEqual([
      {
        ...{ query_id: String(2n ** 64n - 1n), source: OWNER, destination: OTHER, amount: String(2n ** 100n) },
        ...{ source_wallet: WALLET, jetton_master: TOKEN, ...transaction, transaction_aborted: false },
        ...{ response_destination: OWNER, custom_payload: boc, decoded_custom_payload: decoded },
        ...{ forward_ton_amount: '7', forward_payload: boc, decoded_forward_payload: decoded, trace_id: base64 },
      },
    ]);
    expect(Object.keys(address_book).sort()).toEqual([OWNER, OTHER, WALLET, TOKEN]);
    expect((await ask('jetton/transfers', '', 'spec')).jetton_transfers).toEqual(jetton_transfers);
  });

  it('are burns; what is not there is null, or left out', async () => {
    const known = { query_id: '0', owner: OWNER, jetton_wallet: WALLET, jetton_master: TOKEN, amount: '3' };
    const row = { ...known, ...transaction, transaction_aborted: true, response_destination: 'addr_none' };
    const { jetton_burns, address_book } = await ask('jetton/burns');
    expect(jetton_burns).toEqual([{ ...row, custom_payload: null, decoded_custom_payload: null, trace_id: null }]);
    expect(Object.keys(address_book).sort()).toEqual([OWNER, WALLET, TOKEN]);
    expect((await ask('jetton/burns', '', 'spec')).jetton_burns).toEqual([row]);
  });

  it('are transfers of NFTs, also of those without a collection', async () => {
    const known = { query_id: '1', nft_address: WALLET, old_owner: OWNER, new_owner: 'addr_none' };
    const row = { ...known, ...transaction, transaction_aborted: false, response_destination: OTHER };
    const more = { ...row, forward_amount: '0', trace_id: base64 };
    const nulls = ['nft_collection', 'custom_payload', 'decoded_custom_payload', 'forward_payload'];
    const none = Object.fromEntries([...nulls, 'decoded_forward_payload'].map((name) => [name, null]));
    expect((await ask('nft/transfers')).nft_transfers).toEqual([{ ...more, ...none }]);
    expect((await ask('nft/transfers', '', 'spec')).nft_transfers).toEqual([more]);
  });

  it('are asked for by what the parameters say', async () => {
    const page = { limit: 5, offset: 2, sort: 'asc', cursor: null };
    const common = 'limit=5&offset=2&sort=asc&start_lt=7&end_utime=9.5';
    const bounds = { start_lt: 7n, end_lt: undefined, start_utime: undefined, end_utime: 9 };
    const asked = async (method: string, query: string) => {
      await ask(method, `${query}&${common}`);
      return index.asked.findLast(([name]) => name === 'tokenEvents');
    };
    expect(
      await asked('jetton/transfers', `owner_address=${OWNER},${OTHER}&jetton_wallet=${WALLET}&direction=in`),
    ).toEqual([
      ...['tokenEvents', 'jetton_transfer'],
      { ...bounds, owner: [owner, other], direction: 'in', account: [account], token: undefined },
      page,
    ]);
    expect(await asked('jetton/burns', `address=${OWNER}&jetton_master=${TOKEN}`)).toEqual([
      ...['tokenEvents', 'jetton_burn'],
      { ...bounds, owner: [owner], account: undefined, token },
      page,
    ]);
    expect(
      await asked(
        'nft/transfers',
        `address=${OWNER}&item_address=${WALLET}&collection_address=${TOKEN}&direction=both`,
      ),
    ).toEqual([
      ...['tokenEvents', 'nft_transfer'],
      { ...bounds, owner: [owner], direction: undefined, account: [account], token },
      page,
    ]);
  });

  it.each([
    ['jetton/transfers', 'direction=sideways', 'direction'],
    ['jetton/transfers', 'direction=', 'direction'],
    ['jetton/transfers', `jetton_master=${TOKEN},${OTHER}`, 'jetton_master'],
    ['jetton/transfers', `owner_address=${OWNER}&address=${OWNER}`, 'owner_address'],
    ['jetton/burns', 'address=x', 'address'],
    ['jetton/burns', 'direction=in', 'direction'],
    ['nft/transfers', 'item_address=', 'item_address'],
    ['nft/transfers', 'limit=1001', 'limit'],
    ['nft/transfers', 'offset=1&cursor=abc', 'offset'],
  ])('%s?%s is refused by name', async (method, query, name) => {
    const { status, error } = await callV3(method, query, { network: { index } });
    expect([status, error]).toEqual([422, expect.stringContaining(name)]);
  });
});
