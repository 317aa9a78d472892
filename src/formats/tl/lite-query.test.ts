import { describe, expect, it } from 'vitest';
import { AdnlMessage, AdnlMessageQuery } from '#formats/tl/adnl.js';
import { decodeOne, encodeBoxed } from '#formats/tl/constructor.js';
import {
  LiteServerAccountState,
  LiteServerCurrentTime,
  LiteServerError,
  LiteServerGetAccountState,
  LiteServerGetMasterchainInfo,
  LiteServerGetTime,
  LiteServerQuery,
  LiteServerRunMethodResult,
  LiteServerRunSmcMethod,
} from '#formats/tl/lite-api.js';
import { decodeLiteAnswer, decodeLiteQuery, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { errorOf } from '#test/support/error-code.js';

const hex = (text: string): Uint8Array => fromHex(text) as Uint8Array;
const filled = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

const id = { workchain: -1, shard: -(2n ** 63n), seqno: 7, root_hash: filled(1), file_hash: filled(2) };
const getAccountState = { id, account: { workchain: 0, id: filled(3) } };
const accountState = {
  id,
  shardblk: id,
  shard_proof: Uint8Array.of(1),
  proof: Uint8Array.of(),
  state: Uint8Array.of(1, 2),
};

describe('a query', () => {
  const wait = { seqno: 5, timeout_ms: 1000 };
  const golden = '18df068c791092b8eaba05000000e80300002ee6b589000000000000';

  it('is wrapped with its wait as the reference wraps it', () => {
    const query = encodeLiteQuery(LiteServerGetMasterchainInfo, {}, wait);
    const message = encodeBoxed(AdnlMessageQuery, { kind: 'adnl.message.query', query_id: filled(0xaa), query });
    expect(toHex(message)).toBe(`7af98bb4${'aa'.repeat(32)}${golden}`);
  });

  it('is unwrapped', () => {
    const message = decodeOne(AdnlMessage, hex(`7af98bb4${'aa'.repeat(32)}${golden}`));
    expect(message).toMatchObject({ kind: 'adnl.message.query', query_id: filled(0xaa) });
    const { wait: waited, call, bytes } = decodeLiteQuery((message as AdnlMessageQuery).query);
    expect(waited).toEqual(wait);
    expect(call).toEqual({ name: 'liteServer.getMasterchainInfo', value: {} });
    expect(toHex(bytes)).toBe('2ee6b589');
  });

  it('goes there and back', () => {
    const { wait: none, call } = decodeLiteQuery(encodeLiteQuery(LiteServerGetAccountState, getAccountState));
    expect(none).toBeNull();
    expect(call).toEqual({ name: 'liteServer.getAccountState', value: getAccountState });
    // The type follows from the name.
    if (call.name === 'liteServer.getAccountState') expect(call.value.account.workchain).toBe(0);
  });

  it('in a query is a call that no server answers', () => {
    const inner = encodeLiteQuery(LiteServerGetTime, {});
    const { call } = decodeLiteQuery(encodeLiteQuery(LiteServerQuery, { data: inner }));
    expect(call.name).toBe('liteServer.query');
  });
});

describe('a query that cannot be read', () => {
  /** The data in `liteServer.query`. */
  const query = (data: string): Uint8Array => encodeBoxed(LiteServerQuery, { data: hex(data) });
  const wait = '92b8eaba0100000064000000';

  it.each<[string, Uint8Array, string, object, string]>([
    ['nothing', hex(''), 'tl/underflow', { byte: 0, wanted: 4, left: 0 }, ''],
    ['no query', hex('345aad16'), 'tl/unknown-constructor', { byte: 0, found: '0x16ad5a34' }, ''],
    ['data that is cut', hex('df068c7920345aad16'), 'tl/underflow', { byte: 4 }, 'data'],
    ['something after it', hex('df068c7904345aad1600000000000000'), 'tl/left-over', { byte: 12, left: 4 }, ''],
    ['empty data', query(''), 'tl/underflow', { byte: 0, wanted: 4, left: 0 }, ''],
    ['another function', query('efbeadde'), 'tl/unknown-constructor', { byte: 0, found: '0xdeadbeef' }, ''],
    ['more than a function', query('345aad1600000000'), 'tl/left-over', { byte: 4, left: 4 }, ''],
    ['a wait for nothing', query(wait), 'tl/underflow', { byte: 0, wanted: 4, left: 0 }, ''],
    ['two waits', query(`${wait}${wait}345aad16`), 'tl/left-over', { byte: 12, left: 4 }, ''],
    ['half a wait', query(wait.slice(0, 18)), 'tl/underflow', { byte: 8, wanted: 4, left: 1 }, 'timeout_ms'],
    ['flags of 32 bits', query('df71a670ffffffff'), 'tl/negative-number', { byte: 4, value: -1 }, 'mode'],
    ['half a block id', query(`0dcf7763${'00'.repeat(30)}`), 'tl/underflow', { byte: 20, left: 14 }, 'id.root_hash'],
    [
      'more libraries than bytes',
      query(`62b622d102000000${'00'.repeat(60)}`),
      'tl/vector-length',
      { byte: 4, count: 2, left: 60 },
      'library_list',
    ],
    [
      'another Bool',
      query(`25f4a246${'00'.repeat(80)}${'00'.repeat(12)}01000000`),
      'tl/unknown-constructor',
      { byte: 96, found: '0x00000001' },
      'exact',
    ],
  ])('%s', (_, bytes, code, data, path) => {
    const error = errorOf(() => decodeLiteQuery(bytes));
    expect(error.code).toBe(code);
    expect(error.data).toMatchObject(data);
    expect(error.path).toBe(path);
  });
});

describe('an answer', () => {
  it('is the result of the function', () => {
    const answer = decodeLiteAnswer(LiteServerGetTime, encodeBoxed(LiteServerCurrentTime, { now: 1_700_000_000 }));
    expect(answer).toEqual({ error: null, name: 'liteServer.currentTime', value: { now: 1_700_000_000 } });
  });

  it('is an error of the server, which is not thrown', () => {
    const bytes = encodeBoxed(LiteServerError, { code: -701, message: 'no' });
    expect(toHex(bytes)).toBe('48e1a9bb43fdffff026e6f00');
    const answer = decodeLiteAnswer(LiteServerGetTime, bytes);
    expect(answer).toEqual({ error: { code: -701, message: 'no' } });
  });

  it('is of another type only where the caller says so', () => {
    const bytes = encodeBoxed(LiteServerAccountState, accountState);
    expect(errorOf(() => decodeLiteAnswer(LiteServerRunSmcMethod, bytes)).code).toBe('tl/unknown-constructor');
    const answer = decodeLiteAnswer(LiteServerRunSmcMethod, bytes, LiteServerAccountState);
    expect(answer).toEqual({ error: null, name: 'liteServer.accountState', value: accountState });
    // The types follow from the names.
    if (answer.error === null && answer.name === 'liteServer.accountState') {
      expect(answer.value.shardblk).toEqual(id);
    }
  });

  it('has the fields that its flags announce', () => {
    const absent = { shard_proof: null, proof: null, state_proof: null, init_c7: null, lib_extras: null };
    const value = { mode: 4, id, shardblk: id, ...absent, exit_code: 0, result: Uint8Array.of(9) };
    const bytes = encodeBoxed(LiteServerRunMethodResult, value);
    expect(bytes.length).toBe(4 + 4 + 160 + 4 + 4);
    expect(decodeOne(LiteServerRunMethodResult, bytes)).toEqual(value);
  });
});
