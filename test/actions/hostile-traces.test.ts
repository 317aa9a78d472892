import { describe, expect, it } from 'vitest';
import { classify } from '#domain/actions/classify.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import {
  chain,
  fan,
  fuzzingProblems,
  madeAddress,
  madeTrace,
  OPCODES,
  opcodeBody,
  tooComplexWith,
} from '#test/support/hostile-traces.js';
import { KnownFacts } from '#test/support/recorded-actions.js';

describe('traces that nobody would send', () => {
  it('are classified without a defect, and show no verified token that did not move', () => {
    expect(fuzzingProblems(1, FULL ? 500 : 200)).toEqual([]);
  });

  it.each([
    ['fans', fan],
    ['chains', chain],
  ])('take work in proportion to their transactions: %s', (_, make) => {
    expect(tooComplexWith((opcode) => make(300, opcode), partOf(OPCODES, 4))).toEqual([]);
  });
});

describe('a jetton wallet that claims to be one of a known master', () => {
  const transfer = new Builder().storeUint(0x0f8a7ea5, 32).storeUint(7, 64).storeUint(1, 4).storeUint(100, 8);
  const to = (account: Address, builder: Builder) => builder.storeUint(4, 3).storeUint(0, 8).storeBytes(account.hash);
  const body = to(madeAddress(1), to(madeAddress(4), transfer))
    .storeBit(false)
    .storeUint(0, 4)
    .storeBit(false)
    .endCell();
  const internal = to(
    madeAddress(1),
    to(madeAddress(1), new Builder().storeUint(0x178d4519, 32).storeUint(7, 64).storeUint(1, 4).storeUint(100, 8)),
  )
    .storeUint(0, 4)
    .storeBit(false)
    .endCell();
  const trace = madeTrace([
    { sender: null, account: 1, body: opcodeBody(1) },
    { sender: 0, account: 2, body },
    { sender: 1, account: 3, body: internal },
  ]);

  it('moves no jettons', () => {
    const types = classify(trace, new KnownFacts()).actions.map(({ type }) => type);
    expect(types).toEqual(['call_contract', 'call_contract']);
  });

  it('is a near miss, with the account that is no wallet', () => {
    const { nearMisses } = classify(trace, new KnownFacts());
    const found = nearMisses.find(({ pattern }) => pattern === 'jetton_transfer')!;
    expect(found.reason).toEqual({
      kind: 'interface',
      step: 'internal',
      address: madeAddress(3),
      wanted: 'jetton_wallet',
    });
    expect(trace.transactions[found.transaction]!.account).toEqual(madeAddress(2));
  });

  it('moves jettons when the index verified the wallet, and the trace is broken when its owner is another', () => {
    const facts = new KnownFacts();
    facts.add(madeAddress(3).toRaw(), { jetton_wallet: { owner: madeAddress(9), jetton: madeAddress(8) } });
    const { state, actions } = classify(trace, facts);
    expect(state).toBe('broken');
    expect(actions[0]).toMatchObject({
      type: 'jetton_transfer',
      details: { receiver: madeAddress(9), asset: madeAddress(8), amount: 100n },
    });
  });

  it('moves nothing by a message without value to a verified wallet, which cannot run it', () => {
    const facts = new KnownFacts();
    facts.add(madeAddress(3).toRaw(), { jetton_wallet: { owner: madeAddress(4), jetton: madeAddress(8) } });
    const forged = madeTrace([
      { sender: null, account: 1, body: opcodeBody(1) },
      { sender: 0, account: 2, body },
      { sender: 1, account: 3, body: internal, value: 0n, aborted: true },
    ]);
    const transfers = classify(forged, facts).actions.filter(({ type }) => type === 'jetton_transfer');
    expect(transfers.map(({ success }) => success)).toEqual([false]);
  });

  it('is asked for when nothing is known of it', () => {
    const { wanted } = classify(trace, { contract: () => undefined, data: () => undefined });
    expect(wanted.some(({ address, what }) => what === 'contract' && address.equals(madeAddress(3)))).toBe(true);
  });
});

describe('a message without value, which its receiver cannot run', () => {
  const owner = (builder: Builder) => builder.storeUint(4, 3).storeUint(0, 8).storeBytes(madeAddress(7).hash);
  const query = (opcode: number) => new Builder().storeUint(opcode, 32).storeUint(1, 64);
  const burn = owner(query(0x595f07bc).storeUint(1, 4).storeUint(100, 8)).storeBit(false).endCell();
  const transfer = owner(owner(query(0x5fcc3d14)))
    .storeBit(false)
    .storeUint(0, 4)
    .storeBit(false)
    .endCell();
  const facts = new KnownFacts();
  facts.add(madeAddress(2).toRaw(), {
    jetton_wallet: { owner: madeAddress(9), jetton: madeAddress(8) },
    nft_item: { owner: madeAddress(9), collection: madeAddress(8), index: 1n, content_uri: null },
  });

  it.each([
    ['jetton_burn', burn],
    ['nft_transfer', transfer],
  ])('is no successful %s', (type, body) => {
    const trace = madeTrace([
      { sender: null, account: 1, body: opcodeBody(1) },
      { sender: 0, account: 2, body, value: 0n, aborted: true },
    ]);
    const { actions } = classify(trace, facts);
    expect(actions.filter((action) => action.type === type).map(({ success }) => success)).toEqual([false]);
  });

  it('is a call that has not failed, where it means nothing else', () => {
    const trace = madeTrace([
      { sender: null, account: 1, body: opcodeBody(1) },
      { sender: 0, account: 2, body: opcodeBody(0x12345678), value: 0n, aborted: true },
    ]);
    const calls = classify(trace, facts).actions.filter(({ type }) => type === 'call_contract');
    expect(calls.every(({ success }) => success)).toBe(true);
  });
});

describe('a sale', () => {
  const [buyer, sale, item] = [1, 2, 3].map(madeAddress) as [Address, Address, Address];
  const to = (builder: Builder, { hash }: Address) => builder.storeUint(4, 3).storeUint(0, 8).storeBytes(hash);
  const start = new Builder().storeUint(0x5fcc3d14, 32).storeUint(1, 64);
  const transfer = to(to(start, buyer), buyer).storeBit(false).storeUint(0, 4).storeBit(false).endCell();
  const facts = new KnownFacts();
  facts.add(sale.toRaw(), {
    nft_sale: { nft: item, nft_owner: madeAddress(5), marketplace: madeAddress(6), full_price: 1_000n },
  });
  facts.add(item.toRaw(), { nft_item: { owner: buyer, collection: null, index: 1n, content_uri: null } });

  it.each([
    [999n, false],
    [1_000n, true],
  ])('of which the price is 1,000 and %d was paid: %s', (value, is_purchase) => {
    const trace = madeTrace([
      { sender: null, account: 1, body: opcodeBody(1) },
      { sender: 0, account: 2, body: new Builder().endCell(), value },
      { sender: 1, account: 3, body: transfer },
    ]);
    const found = classify(trace, facts).actions.find(({ type }) => type === 'nft_transfer' || type === 'nft_purchase');
    expect(found?.details).toMatchObject({ is_purchase });
  });
});

describe('a body that ends too early', () => {
  it('is a near miss with the field and the bit', () => {
    const cut = new Builder().storeUint(0xf718510f, 32).storeUint(1, 64).storeUint(2, 8).endCell();
    const trace = madeTrace([
      { sender: null, account: 1, body: opcodeBody(0x11111111) },
      { sender: 0, account: 2, body: cut },
    ]);
    const { nearMisses, actions } = classify(trace, new KnownFacts());
    expect(nearMisses.filter(({ pattern }) => pattern === 'multisig_create_order')).toMatchObject([
      { pattern: 'multisig_create_order', reason: { kind: 'body', step: 'start', field: 'order_seqno', bit: 96 } },
    ]);
    expect(actions.map(({ type }) => type)).toEqual(['call_contract']);
  });
});
