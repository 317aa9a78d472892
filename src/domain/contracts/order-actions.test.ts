import { describe, expect, it } from 'vitest';
import { type OrderAction, orderActions } from '#domain/contracts/order-actions.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { storeSnakeBytes, storeSnakeText } from '#formats/cells/snake.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { fromBase64, toBase64 } from '#kernel/bytes.js';
import { otherAccounts } from '#test/support/contract-accounts.js';

/** The order with this number of the recorded network, as its actions. */
function recorded(seqno: string): OrderAction[] | null {
  const { row } = otherAccounts.find(({ row }) => row?.kind === 'multisig_order' && row.order_seqno === seqno)!;
  return orderActions(parseBocRoot(fromBase64(row!.order_boc!)!));
}

/** As the API of TON Center writes it. */
function written(value: unknown): unknown {
  if (value instanceof Address) return value.toRaw().toUpperCase();
  if (value instanceof Uint8Array) return toBase64(value);
  if (typeof value === 'bigint') return `${value}`;
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, written(part)]));
}

describe('orders of the recorded network', () => {
  const send = {
    destination: '0:84E525FB41ADD064D689E004E4D7A3BBD085758F66496F1883C02205AEBC8226',
    parsed: true,
    error: null,
    parsed_body_type: 'ton_transfer',
  };
  const empty = { body_raw: 'te6cckEBAQEAAgAAAEysuc0=', parsed_body: { comment: '', encrypted: false } };

  it('are reported as TON Center reports them', () => {
    expect(written(recorded('4'))).toEqual([{ ...send, ...empty, value: '5000000000000', send_mode: 1 }]);
    expect(written(recorded('123456789'))).toEqual([{ ...send, ...empty, value: '100000000', send_mode: 3 }]);
    // TON Center leaves the opcode in the comment, as four zero characters.
    const parsed_body = { comment: '2 of 4', encrypted: false };
    const body_raw = 'te6cckEBAQEADAAAFAAAAAAyIG9mIDTYBSof';
    expect(written(recorded('3'))).toEqual([{ ...send, body_raw, parsed_body, value: '50000000', send_mode: 3 }]);
  });

  it('have several actions', () => {
    expect(written(recorded('0'))).toMatchObject([
      { ...send, parsed_body: { comment: 'from multisig', encrypted: false }, value: '500000000' },
      { parsed_body_type: 'ton_transfer', parsed_body: { comment: '', encrypted: false }, value: '200000000' },
    ]);
  });

  it('change whom the multisig belongs to', () => {
    const { row } = otherAccounts.find(({ row }) => row?.kind === 'multisig' && row.threshold === '2')!;
    expect(written(recorded('2'))).toEqual([
      {
        destination: null,
        value: null,
        body_raw: null,
        send_mode: 0,
        parsed: true,
        error: null,
        parsed_body_type: 'multisig_update_params',
        parsed_body: { new_threshold: 2, new_signers: row!.signers!.slice(1, -1).split(','), new_proposers: null },
      },
    ]);
  });
});

const OWNER = Address.ofParts(0, new Uint8Array(32).fill(0xaa));
const OTHER = Address.ofParts(-1, new Uint8Array(32).fill(0xbb));
const QUERY = 2n ** 64n - 1n;

/** What a field is stored as. */
type Part = (builder: Builder) => unknown;
const coins =
  (amount: bigint): Part =>
  (builder) =>
    grams.store(amount, builder);
const address =
  (value: Address | null): Part =>
  (builder) =>
    MsgAddress.store(value, builder);
const uint =
  (value: number | bigint, bits: number): Part =>
  (builder) =>
    builder.storeUint(value, bits);
const ref =
  (cell: Cell): Part =>
  (builder) =>
    builder.storeRef(cell);
const text =
  (value: string): Part =>
  (builder) =>
    storeSnakeText(value, builder);

function cellOf(...parts: Part[]): Cell {
  const builder = new Builder();
  for (const part of parts) part(builder);
  return builder.endCell();
}

function body(opcode: number, ...parts: Part[]): Cell {
  return cellOf(uint(opcode, 32), uint(QUERY, 64), ...parts);
}

const boc = (cell: Cell) => serializeBoc(cell, { crc32c: true });

/** A message within the basechain, of 1 TON, the body in a reference. */
function message(content: Cell): Cell {
  return cellOf(
    uint(0b011000, 6),
    address(OWNER),
    coins(10n ** 9n),
    uint(0, 1 + 4 + 4 + 64 + 32),
    uint(1, 2),
    ref(content),
  );
}

function orderOf(...actions: readonly Cell[]): Cell {
  const entries = actions.map((action, i) => [Uint8Array.of(i), new Builder().storeRef(action)] as const);
  return buildDictionary(8, entries)!;
}

function sendOf(content: Cell): Cell {
  return cellOf(uint(0xf1381e5b, 32), uint(3, 8), ref(message(content)));
}

/** What an order that sends this says. */
function said(content: Cell): unknown {
  const [action] = orderActions(orderOf(sendOf(content)))!;
  expect(action).toMatchObject({
    destination: OWNER,
    value: 10n ** 9n,
    body_raw: boc(content),
    send_mode: 3,
    parsed: true,
  });
  return [action!.parsed_body_type, action!.parsed_body];
}

const PAYLOAD = cellOf(uint(0x12345678, 32), ref(EMPTY_CELL));

describe('messages of orders', () => {
  it('transfer NFTs', () => {
    const transfer = body(0x5fcc3d14, address(OWNER), address(null), uint(1, 1), ref(PAYLOAD), coins(7n), uint(0, 1));
    expect(said(transfer)).toEqual([
      'nft_transfer',
      {
        query_id: QUERY,
        new_owner: OWNER,
        response_destination: null,
        custom_payload: boc(PAYLOAD),
        forward_amount: 7n,
        forward_payload: boc(EMPTY_CELL),
      },
    ]);
  });

  const transferOf = (...payload: Part[]) =>
    body(0x0f8a7ea5, coins(5n), address(OTHER), address(OWNER), uint(0, 1), coins(2n), ...payload);
  const head = {
    query_id: QUERY,
    amount: 5n,
    destination: OTHER,
    response: OWNER,
    custom_payload: null,
    forward_amount: 2n,
  };
  const plain = { comment: '', encrypted_comment: false, stonfi_swap_body: null };
  const swap = cellOf(uint(0x25938561, 32), address(OTHER), coins(9n), address(OWNER), uint(0, 1));
  const encrypted = cellOf(uint(0x2167da4b, 32), uint(0xfffe, 16));

  it.each([
    ['nothing', [uint(0, 1)], EMPTY_CELL, { ...plain, payload_sum_type: '' }],
    [
      'a text in the message',
      [uint(0, 1), uint(0, 32), text('за кофе')],
      cellOf(uint(0, 32), text('за кофе')),
      { ...plain, comment: 'за кофе', payload_sum_type: 'TextComment' },
    ],
    ['a few bits', [uint(0, 1), uint(1, 5)], cellOf(uint(1, 5)), { ...plain, payload_sum_type: 'Unknown' }],
    ['what is not known', [uint(1, 1), ref(PAYLOAD)], PAYLOAD, { ...plain, payload_sum_type: 'Unknown' }],
    [
      'a secret text',
      [uint(1, 1), ref(encrypted)],
      encrypted,
      { ...plain, comment: '//4=', encrypted_comment: true, payload_sum_type: 'EncryptedTextComment' },
    ],
    [
      'a swap',
      [uint(1, 1), ref(swap)],
      swap,
      {
        ...plain,
        payload_sum_type: 'StonfiSwap',
        stonfi_swap_body: { jetton_wallet: OTHER, min_amount: 9n, user_address: OWNER },
      },
    ],
  ])('transfer jettons and %s', (_, parts, forward, rest) => {
    expect(said(transferOf(...parts))).toEqual([
      'jetton_transfer',
      { ...head, forward_payload: boc(forward), ...rest },
    ]);
  });

  const inner = cellOf(uint(0x178d4519, 32), uint(4, 64), coins(11n), uint(0, 20));
  const setStatus = body(0xeed236d3, uint(3, 4));
  const vestingMessage = message(cellOf(uint(0, 32), text('w')));

  it.each<[Cell, string, object]>([
    [
      body(0x595f07bc, coins(1n), address(null)),
      'jetton_burn',
      { query_id: QUERY, amount: 1n, response_destination: null },
    ],
    ...[0x15, 0x642b7d07].map((opcode): [Cell, string, object] => [
      body(opcode, address(OWNER), coins(2n), ref(inner)),
      'jetton_mint',
      {
        opcode,
        query_id: QUERY,
        to_address: OWNER,
        ton_amount: 2n,
        master_msg_query_id: 4n,
        master_msg_jetton_amount: 11n,
      },
    ]),
    [body(0xd372158c), 'jetton_top_up', { query_id: QUERY }],
    [body(0x6501f354, address(OTHER)), 'jetton_change_admin', { query_id: QUERY, new_admin_address: OTHER }],
    [body(0xfb88e119), 'jetton_claim_admin', { query_id: QUERY }],
    [
      body(0xcb862902, text('https://x/y')),
      'jetton_change_content',
      { query_id: QUERY, new_metadata_url: 'https://x/y' },
    ],
    [
      body(0x235caf52, address(OWNER), coins(3n), ref(setStatus)),
      'jetton_call_to',
      {
        query_id: QUERY,
        to_address: OWNER,
        ton_amount: 3n,
        action_type: 'JettonSetStatus',
        action_data: boc(setStatus),
      },
    ],
    [setStatus, 'jetton_set_status', { query_id: QUERY, new_status: 3 }],
    [body(0x1000, coins(6n)), 'single_nominator_withdraw', { query_id: QUERY, coins: 6n }],
    [body(0x1001, address(OTHER)), 'single_nominator_change_validator', { query_id: QUERY, validator_address: OTHER }],
    [
      body(0xa7733acd, uint(3, 8), ref(vestingMessage)),
      'vesting_internal_transfer',
      {
        query_id: QUERY,
        send_mode: 3,
        destination: OWNER,
        value: 10n ** 9n,
        message_body: boc(cellOf(uint(0, 32), text('w'))),
        comment: 'w',
      },
    ],
    [encrypted, 'ton_transfer', { comment: '//4=', encrypted: true }],
    [cellOf(uint(0, 32), uint(1, 3)), 'ton_transfer', { comment: '', encrypted: false }],
    [cellOf(uint(0x616263, 24)), 'ton_transfer', { comment: 'abc', encrypted: false }],
    [PAYLOAD, 'unknown', { opcode: 0x12345678, data: boc(PAYLOAD) }],
    // Of another form than the opcode asks for.
    [body(0x595f07bc), 'unknown', { opcode: 0x595f07bc, data: boc(body(0x595f07bc)) }],
  ])('of each type are told: %#', (content, type, fields) => {
    expect(said(content)).toEqual([type, fields]);
  });
});

describe('orders of strangers', () => {
  it('are no actions when they are no dictionary', () => {
    expect(orderActions(EMPTY_CELL)).toBeNull();
    expect(orderActions(cellOf(uint(0xfff, 12), ref(EMPTY_CELL)))).toBeNull();
  });

  it('have actions that cannot be read, between others', () => {
    const actions = orderActions(orderOf(cellOf(uint(0xdeadbeef, 32)), sendOf(EMPTY_CELL), EMPTY_CELL))!;
    expect(actions.map(({ parsed }) => parsed)).toEqual([false, true, false]);
    expect(actions[0]).toEqual({
      destination: null,
      value: null,
      body_raw: null,
      send_mode: 0,
      parsed: false,
      error: 'a multisig has no action with opcode 0xdeadbeef',
      parsed_body: null,
      parsed_body_type: 'unknown',
    });
  });

  it('do not report the same large body again and again', () => {
    const random = new Uint8Array(60_000).map((_, i) => (i * 2654435761) >>> 13);
    const large = sendOf(storeSnakeBytes(random, new Builder().storeUint(0x12345678, 32)).endCell());
    const actions = orderActions(orderOf(...Array.from({ length: 200 }, () => large)))!;
    const reported = actions.filter(({ parsed }) => parsed);
    expect(actions.length).toBe(200);
    expect(reported.length).toBeGreaterThan(3);
    expect(reported.reduce((sum, { body_raw }) => sum + body_raw!.length, 0)).toBeLessThan(2 ** 20);
    expect(actions[199]).toMatchObject({
      parsed: false,
      error: 'the messages of the order are too large for an answer',
    });
  });
});
