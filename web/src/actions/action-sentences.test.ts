import { describe, expect, it } from 'vitest';
import { ACTION_TYPES } from '#domain/actions/action-registry.js';
import { actionComment, actionSentence, sentences } from './action-sentences.js';

const A = `0:${'A'.repeat(64)}`;
const B = `0:${'B'.repeat(64)}`;

/** A sentence as text, with its members in brackets. */
function text(type: string, details: Readonly<Record<string, unknown>>): string {
  return actionSentence(type, details)
    .map((part) => {
      if (part.kind === 'text' || part.kind === 'said') return part.text;
      if (part.kind === 'account') return `<${part.address.slice(0, 3)}>`;
      if (part.kind === 'ton') return `<${part.nano} nano>`;
      return part.kind === 'opcode' ? `<${part.opcode}>` : `<${part.units} of ${part.asset?.slice(0, 3) ?? 'TON'}>`;
    })
    .join('');
}

describe('the sentence of an action', () => {
  it.each([
    ['ton_transfer', { source: A, destination: B, value: '5' }, '<0:A> sent <5 nano> to <0:B>'],
    ['jetton_transfer', { sender: A, receiver: B, amount: '7', asset: B }, '<0:A> sent <7 of 0:B> to <0:B>'],
    [
      'stake_deposit',
      { stake_holder: A, amount: '7', pool: B, source_asset: null },
      '<0:A> staked <7 of TON> in <0:B>',
    ],
    [
      'call_contract',
      { source: A, destination: B, opcode: '0x1', value: '3' },
      '<0:A> called <0:B> with <0x1> and <3 nano>',
    ],
    ['call_contract', { source: A, destination: B }, '<0:A> called <0:B>'],
    [
      'call_contract',
      { source: A, destination: B, opcode: '0xffffffff', value: '3' },
      '<0:A> sent <3 nano> back to <0:B>: the message bounced',
    ],
    ['nft_mint', { nft_item: A, nft_collection: B, owner: B }, 'NFT <0:A> of <0:B> was minted'],
    ['nft_mint', { nft_item: A, owner: B }, 'NFT <0:A> was minted by <0:B>'],
    ['contract_deploy', { destination: B }, '<0:B> was deployed'],
    [
      'jetton_swap',
      {
        ...{ sender: A, asset_in: null, asset_out: B, dex: 'stonfi' },
        dex_incoming_transfer: { amount: '1' },
        dex_outgoing_transfer: { amount: '2' },
      },
      '<0:A> swapped <1 of TON> for <2 of 0:B> on stonfi',
    ],
    // A member that its sentence needs is missing, and a type that is not known.
    ['ton_transfer', { source: A }, 'Ton transfer: <0:A>'],
    ['made_up_later', { who: A, whom: B, note: 'x' }, 'Made up later: <0:A>, <0:B>'],
  ])('%s %j: %s', (type, details, sentence) => {
    expect(text(type, details)).toBe(sentence);
  });

  it('exists for every type that Tern knows', () => {
    expect([...ACTION_TYPES.keys()].filter((type) => sentences[type] === undefined)).toEqual([]);
  });
});

it('a comment is shown unless it is encrypted or empty', () => {
  expect(actionComment({ comment: 'hi' })).toBe('hi');
  expect(actionComment({ comment: '' })).toBeNull();
  expect(actionComment({ comment: 7 })).toBeNull();
  expect(actionComment({ comment: 'x', encrypted: true })).toBe('an encrypted comment');
});
