import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { Account, type StateInit, stateInitOf } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { toBase64 } from '#kernel/bytes.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';
import { type ServedEmulation, serveEmulation } from '#test/support/served-emulation.js';
import { signingWallet } from '#test/support/signing-wallets.js';
import { codeOf } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

const HEAD = 380;
const AMOUNT = 10n ** 13n;

/** `ACCEPT`, then so many messages of 2^24 nanotons to itself. */
function sendsToItself(count: number): Cell {
  const sending = '8010c8cb05f82801ce8317fa027001cb6ac971fb00';
  return codeOf(`f80081${count.toString(16).padStart(4, '0')}8e${(sending.length / 2).toString(16)}${sending}e4`);
}

const wallet = signingWallet('wallet_v3r2', { seqno: 5, wallet_id: 9 });
const accounts = new Map<string, StateInit>([[wallet.address.toRaw(), wallet.init]]);

function contract(code: Cell): Address {
  const init = stateInitOf(code, EMPTY_CELL);
  const address = Address.ofParts(0, code.hash());
  accounts.set(address.toRaw(), init);
  return address;
}

const endless = contract(codeOf('f80090ea'));
const chained = contract(sendsToItself(1));
const multiplying = contract(sendsToItself(255));

const withAccounts =
  (chain: ChainReads): ChainReads['account'] =>
  async (address, options) => {
    const read = await chain.account(address, options);
    const state_init = accounts.get(address.toRaw());
    if (state_init === undefined || read.block.seqno < HEAD) return read;
    const storage_stat = {
      ...{ used: { cells: 1n, bits: 1n }, storage_extra: { kind: 'storage_extra_none' } as const },
      ...{ last_paid: read.shard_utime!, due_payment: null },
    };
    const state = { kind: 'account_active', state_init } as const;
    const storage = { last_trans_lt: 0n, balance: onlyGrams(AMOUNT), state };
    const account: Account = { kind: 'account', addr: address, storage_stat, storage };
    return { ...read, account, cell: encodeCell(Account, account) };
  };

/** An external-in message without a body. */
function externalTo(dest: Address): string {
  return bocOf(
    encodeCell(Message, {
      info: { kind: 'ext_in_msg_info', src: null, dest, import_fee: 0n },
      init: null,
      body: { kind: 'left', value: openCell(EMPTY_CELL) },
    }),
  );
}

const bocOf = (cell: Cell) => toBase64(serializeBoc(cell));

const seqno = (fields: { readonly seqno?: number; readonly valid_until?: number; readonly wallet_id?: number }) =>
  bocOf(wallet.message({ seqno: 5, wallet_id: 9, valid_until: 0xffff_ffff, ...fields }));
const good = seqno({});

let tvm: TvmPool;
let served: ServedEmulation;
let withoutIndex: ServedEmulation;
beforeAll(async () => {
  tvm = await startTvm();
  const bounds = { traceCpuMs: 60_000 };
  served = await serveEmulation(DEV_CHAIN, tvm, { account: withAccounts, bounds });
  withoutIndex = await serveEmulation(DEV_CHAIN, tvm, { account: withAccounts, bounds, hasIndex: false });
});
afterAll(async () => {
  await served?.close();
  await withoutIndex?.close();
  await tvm?.close();
});

type Answer = { readonly status: number; readonly body: any };

async function ask(path: string, init: RequestInit, at: ServedEmulation = served): Promise<Answer> {
  const response = await fetch(`${at.url}${path}`, { method: 'POST', ...init });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const emulate = (body: object, profile = '', at?: ServedEmulation) =>
  ask(`${profile}/api/emulate/v1/emulateTrace`, { body: JSON.stringify(body), headers: JSON_HEADERS }, at);
const LIVE = '/toncenter';

/** A request of TON Connect with changes of it and of its message. */
function connect(changes: object, message: object = {}, profile = ''): Promise<Answer> {
  const body = {
    from: wallet.address.toRaw(),
    messages: [{ address: `0:${'12'.repeat(32)}`, amount: '1000000', ...message }],
    ...changes,
  };
  return ask(`${profile}/api/emulate/v1/emulateTonConnect`, { body: JSON.stringify(body), headers: JSON_HEADERS });
}

const REFUSED = 'failed to emulate shard block: EmulationExternalNotAccepted: ';
const unmarshal = (found: string, member: string, type: string) =>
  `invalid request: json: cannot unmarshal ${found} into Go struct field ${member} of type ${type}`;
const emptyCell = bocOf(EMPTY_CELL);
/** With a checksum. */
const checked = 'te6cckEBAQEAAgAAAEysuc0=';
const anotherCrc = checked.replace('Eysuc0=', 'EyTuc0=');

describe('a message', () => {
  it('is emulated in both profiles', async () => {
    for (const profile of ['', LIVE]) {
      const { status, body } = await emulate({ boc: good, with_actions: true }, profile);
      expect([status, body.mc_block_seqno, Object.keys(body.transactions).length]).toEqual([200, HEAD, 1]);
      expect('code_cells' in body).toBe(profile === LIVE);
    }
  });

  it.each<[string, object, number, string, RegExp]>([
    ['no boc', {}, 400, 'invalid request: boc is required', /boc: it is required/],
    ['boc null', { boc: null }, 400, 'invalid request: boc is required', /boc: it is required/],
    ['boc empty', { boc: '' }, 400, 'invalid request: boc is required', /parameter boc/],
    ['boc true', { boc: true }, 400, unmarshal('bool', 'EmulateRequest.boc', 'string'), /parameter boc/],
    ['boc array', { boc: [] }, 400, unmarshal('array', 'EmulateRequest.boc', 'string'), /parameter boc/],
    ['boc object', { boc: {} }, 400, unmarshal('object', 'EmulateRequest.boc', 'string'), /parameter boc/],
    ['boc space', { boc: ' ' }, 400, 'invalid request: invalid boc: illegal base64 data at input byte 0', /byte 0/],
    [
      'two pads',
      { boc: `${good}==` },
      400,
      `invalid request: invalid boc: illegal base64 data at input byte ${good.length}`,
      /parameter boc/,
    ],
    [
      'three bytes',
      { boc: 'abcd' },
      500,
      "Can't deserialize message boc: [Error : 0 : cannot deserialize bag-of-cells: not enough bytes (3 present, 10 required)]",
      /parameter boc/,
    ],
    [
      'an empty cell',
      { boc: emptyCell },
      500,
      'in msg found with no destination: Ext out message found',
      /parameter boc/,
    ],
    ['another seqno', { boc: seqno({ seqno: 4 }) }, 500, `${REFUSED}33`, /parameter boc: .*exit code 33\. .*seqno/],
    [
      'another seqno, unsigned',
      { boc: seqno({ seqno: 6 }), ignore_chksig: true },
      500,
      `${REFUSED}33`,
      /parameter boc: .*exit code 33/,
    ],
    ['another subwallet', { boc: seqno({ wallet_id: 8 }) }, 500, `${REFUSED}34`, /parameter boc: .*exit code 34/],
    ['expired', { boc: seqno({ valid_until: 1 }) }, 500, `${REFUSED}35`, /parameter boc: .*exit code 35/],
    [
      'flag 1',
      { boc: good, with_actions: 1 },
      400,
      unmarshal('number', 'EmulateRequest.with_actions', 'bool'),
      /with_actions/,
    ],
    [
      'flag text',
      { boc: good, include_metadata: 'true' },
      400,
      unmarshal('string', 'EmulateRequest.include_metadata', 'bool'),
      /include_metadata/,
    ],
    [
      'flag array',
      { boc: good, ignore_chksig: [] },
      400,
      unmarshal('array', 'EmulateRequest.ignore_chksig', 'bool'),
      /ignore_chksig/,
    ],
    [
      'block 0',
      { boc: good, mc_block_seqno: 0 },
      500,
      'failed to fetch mc block  0: block not in db',
      /mc_block_seqno/,
    ],
    ['block 1', { boc: good, mc_block_seqno: 1 }, 500, 'no shard found for message', /no shard of workchain 0/],
    [
      'block -1',
      { boc: good, mc_block_seqno: -1 },
      400,
      unmarshal('number -1', 'EmulateRequest.mc_block_seqno', 'uint32'),
      /mc_block_seqno/,
    ],
    [
      'block true',
      { boc: good, mc_block_seqno: true },
      400,
      unmarshal('bool', 'EmulateRequest.mc_block_seqno', 'uint32'),
      /mc_block_seqno/,
    ],
    [
      'the next block',
      { boc: good, mc_block_seqno: HEAD + 1 },
      500,
      'mc block seqno is too new',
      /mc_block_seqno: .*does not exist yet/,
    ],
    [
      'block 2^32',
      { boc: good, mc_block_seqno: 2 ** 32 },
      400,
      unmarshal('number 4294967296', 'EmulateRequest.mc_block_seqno', 'uint32'),
      /mc_block_seqno/,
    ],
  ])('is refused with the parameter, or the text of the live service: %s', async (_, body, status, text, named) => {
    expect(await emulate(body, LIVE)).toEqual({ status, body: { error: text } });
    const found = await emulate(body);
    expect([found.status, found.body.error]).toEqual([422, expect.stringMatching(named)]);
  });

  it('with another checksum is refused with both', async () => {
    const { body } = await emulate({ boc: anotherCrc }, LIVE);
    expect(body.error).toMatch(/CRC32C mismatch: expected 0x[0-9a-f]+, found 0x[0-9a-f]+\]$/i);
    expect((await emulate({ boc: anotherCrc })).status).toBe(422);
  });

  it.each<[string, string | null, string, number, string | null]>([
    ['JSON of a vendor', 'application/vnd.api+json', JSON.stringify({ boc: good }), 200, null],
    ['a form', 'application/x-www-form-urlencoded', `boc=${encodeURIComponent(good)}&with_actions=true`, 200, null],
    ['JSON that curl calls a form', 'application/x-www-form-urlencoded', JSON.stringify({ boc: good }), 200, null],
    ['a form without a message', 'application/x-www-form-urlencoded', 'a=b', 400, 'boc is required'],
    ['text', 'text/plain', JSON.stringify({ boc: good }), 400, 'Unprocessable Entity'],
    ['bytes', 'application/octet-stream', JSON.stringify({ boc: good }), 400, 'Unprocessable Entity'],
    [
      'an array',
      'application/json',
      '[]',
      400,
      'json: cannot unmarshal array into Go value of type main.EmulateRequest',
    ],
    [
      'a number',
      'application/json',
      '5',
      400,
      'json: cannot unmarshal number into Go value of type main.EmulateRequest',
    ],
    ['nothing', 'application/json', '', 400, 'unexpected end of JSON input'],
    ['null', 'application/json', 'null', 400, 'boc is required'],
    ['half of it', 'application/json', '{"boc":"te6c', 400, 'unexpected end of JSON input'],
    ['a word', 'application/json', 'hello', 400, "invalid character 'h' looking for beginning of value"],
    ['two values', 'application/json', '{}x', 400, "invalid character 'x' after top-level value"],
    [
      'a name without quotes',
      'application/json',
      '{a:1}',
      400,
      "invalid character 'a' looking for beginning of object key string",
    ],
  ])('in a body that is %s is read as by the live service', async (_, type, text, status, problem) => {
    const { status: found, body } = await ask(`${LIVE}/api/emulate/v1/emulateTrace`, {
      body: Buffer.from(text),
      headers: type === null ? {} : { 'content-type': type },
    });
    expect([found, body.error]).toEqual([status, problem === null ? undefined : `invalid request: ${problem}`]);
  });

  it('without a content type is refused by the live service', async () => {
    const body = Buffer.from(JSON.stringify({ boc: good }));
    expect(await ask(`${LIVE}/api/emulate/v1/emulateTrace`, { body })).toMatchObject({
      status: 400,
      body: { error: 'invalid request: Unprocessable Entity' },
    });
    expect((await ask('/api/emulate/v1/emulateTrace', { body })).status).toBe(200);
  });

  it.each([
    ['PUT', 'v1/emulateTrace', 405, 'Method Not Allowed'],
    ['GET', 'v1/emulateTrace', 404, 'Cannot GET v1/emulateTrace'],
    ['GET', 'v1/nosuch', 404, 'Cannot GET v1/nosuch'],
    ['POST', 'v1/nosuch', 405, 'Method Not Allowed'],
    ['DELETE', 'v1/emulateTonConnect', 405, 'Method Not Allowed'],
  ])('by %s %s is refused', async (method, path, status, error) => {
    const found = await ask(`${LIVE}/api/emulate/${path}`, { method });
    expect([found.status, found.body.error]).toEqual([status, error]);
  });

  it.each(['v1/EMULATETRACE', 'V1/emulatetrace/', 'v1/emulateTrace?x=1'])('is taken at %s', async (path) => {
    const init = { body: JSON.stringify({ BOC: good, Foo: 1 }), headers: JSON_HEADERS };
    expect((await ask(`${LIVE}/api/emulate/${path}`, init)).status).toBe(200);
  });
});

describe('a request of TON Connect', () => {
  it('is composed and emulated, a bounce included', async () => {
    for (const profile of ['', LIVE]) {
      const { status, body } = await connect({ with_actions: true }, {}, profile);
      expect([status, Object.keys(body.transactions).length, body.actions.length]).toEqual([200, 3, 2]);
    }
  });

  const MEMBER = 'TonConnectEmulateRequest.';
  it.each<[string, object, object, number, string, RegExp]>([
    ['from 5', { from: 5 }, {}, 400, unmarshal('number', `${MEMBER}from`, 'string'), /parameter from/],
    ['no from', { from: null }, {}, 400, 'invalid request: from address is required for emulation', /parameter from/],
    [
      'from nowhere',
      { from: `5:${'0'.repeat(64)}` },
      {},
      500,
      'Failed to fetch account state: Account not found in accounts_dict',
      /parameter from/,
    ],
    ['from a contract', { from: endless.toRaw() }, {}, 500, 'Account is not a known wallet', /parameter from/],
    ['from another form', { from: 'addr_none' }, {}, 500, 'Invalid address format: addr_none', /parameter from/],
    ['no messages', { messages: [] }, {}, 400, 'invalid request: messages array cannot be empty', /parameter messages/],
    [
      'message null',
      { messages: [null] },
      {},
      400,
      'invalid request: message at index 0 cannot be empty',
      /messages: at 0/,
    ],
    [
      'message 5',
      { messages: [5] },
      {},
      400,
      unmarshal('number', `${MEMBER}messages`, 'main.TonConnectMessage'),
      /messages: at 0/,
    ],
    [
      'to nothing',
      {},
      { address: null },
      400,
      'invalid request: message at index 0 cannot be empty',
      /messages: at 0.address/,
    ],
    [
      'to no address',
      {},
      { address: 'bad' },
      500,
      'Failed to compose external message: Failed to parse account address',
      /messages.0.address/,
    ],
    [
      'amount 5',
      {},
      { amount: 5 },
      400,
      unmarshal('number', 'TonConnectMessage.messages.amount', 'string'),
      /0.amount/,
    ],
    [
      'amount +5',
      {},
      { amount: '+5' },
      400,
      'invalid request: invalid amount in message at index 0: strconv.ParseUint: parsing "+5": invalid syntax',
      /0.amount/,
    ],
    ['no amount', {}, { amount: '' }, 400, 'invalid request: amount in message at index 0 cannot be empty', /0.amount/],
    [
      'payload 5',
      {},
      { payload: 5 },
      400,
      unmarshal('number', 'TonConnectMessage.messages.payload', 'string'),
      /0.payload/,
    ],
    [
      'payload empty',
      {},
      { payload: '' },
      500,
      'Failed to compose external message: Failed to deserialize payload cell: cannot deserialize bag-of-cells: not enough bytes (0 present, 10 required)',
      /0.payload/,
    ],
    [
      'stateInit cut',
      {},
      { stateInit: checked.slice(0, -1) },
      400,
      `invalid request: invalid message stateInit at index 0: illegal base64 data at input byte 20`,
      /0.stateInit/,
    ],
    [
      'valid_until true',
      { valid_until: true },
      {},
      400,
      unmarshal('bool', `${MEMBER}valid_until`, 'uint64'),
      /valid_until/,
    ],
    [
      'block 0',
      { mc_block_seqno: 0 },
      {},
      500,
      'failed to fetch mc block  0: block not in db',
      /parameter mc_block_seqno/,
    ],
    ['block 1', { mc_block_seqno: 1 }, {}, 500, 'no shard found for message', /no shard of workchain 0/],
    ['block far', { mc_block_seqno: 10 ** 6 }, {}, 500, 'mc block seqno is too new', /parameter mc_block_seqno/],
  ])(
    'is refused with the parameter, or the text of the live service: %s',
    async (_, changes, message, status, text, named) => {
      expect(await connect(changes, message, LIVE)).toEqual({ status, body: { error: text } });
      const found = await connect(changes, message);
      expect([found.status, found.body.error]).toEqual([422, expect.stringMatching(named)]);
    },
  );
});

describe('a server without an index', () => {
  it('emulates with actions, and refuses what only an index has', async () => {
    const { status, body } = await emulate(
      { boc: good, with_actions: true, include_code_data: true },
      '',
      withoutIndex,
    );
    expect([status, body.actions.length, Object.keys(body.code_cells).length]).toEqual([200, 1, 1]);
    for (const flag of ['include_address_book', 'include_metadata']) {
      const asked = { boc: good, [flag]: true };
      const text = 'invalid request: address book and metadata are not available';
      expect(await emulate(asked, LIVE, withoutIndex)).toEqual({ status: 400, body: { error: text } });
      const refused = await emulate(asked, '', withoutIndex);
      expect([refused.status, refused.body.error]).toEqual([422, expect.stringContaining(flag)]);
      expect((await emulate({ boc: good, [flag]: false }, '', withoutIndex)).status).toBe(200);
    }
  });
});

describe('a hostile contract', () => {
  it('that calls itself again and again is cut after 32 levels', async () => {
    const { body } = await emulate({ boc: externalTo(chained) });
    expect([Object.keys(body.transactions).length, body.is_incomplete]).toEqual([32, true]);
  });

  it('that sends 255 messages with each transaction is cut after 4,096 messages', async () => {
    const { body } = await emulate({ boc: externalTo(multiplying) });
    expect([Object.keys(body.transactions).length, body.is_incomplete]).toEqual([Math.ceil(4_096 / 255), true]);
  });

  it('is limited in CPU time', async () => {
    const started = await serveEmulation(DEV_CHAIN, tvm, { account: withAccounts, bounds: { traceCpuMs: 1 } });
    try {
      const { status, body } = await emulate({ boc: externalTo(chained) }, '', started);
      expect([status, body.error]).toEqual([422, expect.stringContaining('1 ms')]);
    } finally {
      await started.close();
    }
  });

  it('that never ends runs out of gas', async () => {
    const { body } = await emulate({ boc: externalTo(endless) });
    const [transaction] = Object.values<any>(body.transactions);
    expect(transaction.description.compute_ph).toMatchObject({ success: false, exit_code: -14 });
  });
});
