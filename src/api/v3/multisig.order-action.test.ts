import { describe, expect, it } from 'vitest';
import { AddressCollector, writeAnswerJson } from '#api/v3/answer-type.js';
import { OrderActionJson } from '#api/v3/multisig.js';
import type { OrderAction } from '#domain/contracts/order-actions.js';
import type { OrderBodies, OrderBodyType } from '#domain/contracts/order-messages.js';
import { Address } from '#formats/address/address.js';

const address = (byte: number) => Address.ofParts(byte === 9 ? -1 : 0, new Uint8Array(32).fill(byte));
const raw = (byte: number) => address(byte).toRaw().toUpperCase();
const bytes = Uint8Array.of(0xb5, 0xee, 0x9c, 0x72);
const text = 'te6ccg==';

/** Greater than what a number of JavaScript holds. */
const query_id = 2n ** 64n - 1n;
const QUERY = '"query_id":18446744073709551615';

/** What each type says, and how it is written; `null` where a field has no value. */
const BODIES: { readonly [Type in OrderBodyType]: readonly [OrderBodies[Type], string] } = {
  nft_transfer: [
    {
      ...{ query_id, new_owner: address(1), response_destination: null, custom_payload: null },
      ...{ forward_amount: 5n, forward_payload: bytes },
    },
    `{${QUERY},"new_owner":"${raw(1)}","response_destination":null,"custom_payload":null,"forward_amount":"5","forward_payload":"${text}"}`,
  ],
  ton_transfer: [{ comment: '"\n', encrypted: false }, '{"comment":"\\"\\n","encrypted":false}'],
  jetton_top_up: [{ query_id }, `{${QUERY}}`],
  jetton_change_admin: [{ query_id, new_admin_address: address(9) }, `{${QUERY},"new_admin_address":"${raw(9)}"}`],
  jetton_claim_admin: [{ query_id: 0n }, '{"query_id":0}'],
  jetton_change_content: [{ query_id, new_metadata_url: 'u' }, `{${QUERY},"new_metadata_url":"u"}`],
  jetton_call_to: [
    { query_id, to_address: null, ton_amount: 10n ** 20n, action_type: '', action_data: bytes },
    `{${QUERY},"to_address":null,"ton_amount":"100000000000000000000","action_type":"","action_data":"${text}"}`,
  ],
  jetton_set_status: [{ query_id, new_status: 3 }, `{${QUERY},"new_status":3}`],
  jetton_transfer: [
    {
      ...{ query_id, amount: 1n, destination: address(1), response: address(2), custom_payload: bytes },
      ...{ forward_amount: 0n, comment: 'c', encrypted_comment: false, forward_payload: bytes },
      payload_sum_type: 'StonfiSwap',
      stonfi_swap_body: { jetton_wallet: address(3), min_amount: 1_500_000_000n, user_address: null },
    },
    `{${QUERY},"amount":"1","destination":"${raw(1)}","response":"${raw(2)}","custom_payload":"${text}","forward_amount":"0",` +
      `"comment":"c","encrypted_comment":false,"forward_payload":"${text}","payload_sum_type":"StonfiSwap",` +
      `"stonfi_swap_body":{"jetton_wallet":"${raw(3)}","min_amount":"1.5","user_address":null}}`,
  ],
  jetton_burn: [
    { query_id, amount: 7n, response_destination: null },
    `{${QUERY},"amount":"7","response_destination":null}`,
  ],
  jetton_mint: [
    {
      ...{ opcode: 0x642b7d07, query_id, to_address: address(1), ton_amount: 1n },
      ...{ master_msg_query_id: 2n ** 63n, master_msg_jetton_amount: 2n ** 100n },
    },
    `{"opcode":1680571655,${QUERY},"to_address":"${raw(1)}","ton_amount":"1","master_msg_query_id":9223372036854775808,` +
      '"master_msg_jetton_amount":"1267650600228229401496703205376"}',
  ],
  single_nominator_withdraw: [{ query_id, coins: 3n }, `{${QUERY},"coins":"3"}`],
  single_nominator_change_validator: [
    { query_id, validator_address: address(9) },
    `{${QUERY},"validator_address":"${raw(9)}"}`,
  ],
  vesting_internal_transfer: [
    { query_id, send_mode: 3, destination: address(1), value: null, message_body: bytes, comment: '' },
    `{${QUERY},"send_mode":3,"destination":"${raw(1)}","value":null,"message_body":"${text}","comment":""}`,
  ],
  multisig_update_params: [
    { new_threshold: 2, new_signers: [address(1), address(9)], new_proposers: null },
    `{"new_threshold":2,"new_signers":["${raw(1)}","${raw(9)}"],"new_proposers":null}`,
  ],
  unknown: [{ opcode: 0xffffffff, data: bytes }, `{"opcode":4294967295,"data":"${text}"}`],
};

const message = { destination: address(5), value: 1n, body_raw: bytes, send_mode: 1 };

function action<Type extends OrderBodyType>(parsed_body_type: Type): OrderAction {
  const [parsed_body] = BODIES[parsed_body_type];
  return { ...message, parsed: true, error: null, parsed_body_type, parsed_body } as OrderAction;
}

describe('an action of an order', () => {
  const written = (given: OrderAction, profile: 'spec' | 'toncenter', addresses = new AddressCollector()) =>
    writeAnswerJson(OrderActionJson, given, { profile, addresses });

  it.each(Object.keys(BODIES) as OrderBodyType[])('tells a body of the type %s', (type) => {
    const addresses = new AddressCollector();
    expect(written(action(type), 'toncenter', addresses)).toBe(
      `{"destination":"${raw(5)}","value":"1","body_raw":"${text}","parsed":true,"error":null,` +
        `"parsed_body":${BODIES[type][1]},"parsed_body_type":"${type}","send_mode":1}`,
    );
    // All that are told, and no others.
    const reported = [...BODIES[type][1].matchAll(/"(-?\d:[0-9A-F]{64})"/g)].map(([, one]) => one!);
    expect([...addresses.byRaw.keys()].sort()).toEqual([...new Set([raw(5), ...reported])].sort());
  });

  it('leaves out what has no value in the spec profile', () => {
    const inSpec = (type: OrderBodyType) => JSON.parse(written(action(type), 'spec'));
    expect(Object.keys(inSpec('jetton_burn').parsed_body)).toEqual(['query_id', 'amount']);
    expect(inSpec('jetton_burn')).not.toHaveProperty('error');
    expect(Object.keys(inSpec('jetton_transfer').parsed_body.stonfi_swap_body)).toEqual([
      'jetton_wallet',
      'min_amount',
    ]);
  });

  it('says why it could not be read', () => {
    const failed: OrderAction = {
      ...{ destination: null, value: null, body_raw: null, send_mode: 0, parsed: false, error: 'it is "none"' },
      ...{ parsed_body: null, parsed_body_type: 'unknown' },
    };
    expect(written(failed, 'toncenter')).toBe(
      '{"destination":null,"value":null,"body_raw":null,"parsed":false,"error":"it is \\"none\\"","parsed_body":null,' +
        '"parsed_body_type":"unknown","send_mode":0}',
    );
    expect(written(failed, 'spec')).toBe(
      '{"parsed":false,"error":"it is \\"none\\"","parsed_body_type":"unknown","send_mode":0}',
    );
  });

  it.each([
    [0n, '0'],
    [1n, '0.000000001'],
    [10n ** 9n, '1'],
    [123_450_000_000n, '123.45'],
    [2n ** 120n, '1329227995784915872903807060.280344576'],
  ])('writes the least amount of a swap in coins: %s as %s', (min_amount, coins) => {
    const [body] = BODIES.jetton_transfer;
    const parsed_body = { ...body, stonfi_swap_body: { ...body.stonfi_swap_body!, min_amount } };
    const swap: OrderAction = {
      ...message,
      ...{ parsed: true, error: null, parsed_body_type: 'jetton_transfer', parsed_body },
    };
    expect(written(swap, 'toncenter')).toContain(`"min_amount":"${coins}"`);
  });
});
