import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tvmErrors } from '#drivers/tvm/errors.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate } from '#formats/cells/merkle-update.js';
import { openCell } from '#formats/cells/slice.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { Account, ShardAccount } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { configParam, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { ExtraCurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { toHex } from '#kernel/bytes.js';
import type { StateOverride } from '#localnet/producer/block-request.js';
import { commentBody } from '#localnet/wallets/create-transfer.js';
import { accountAt, ProducerChain } from '#test/support/producer-chain.js';
import { startTvm } from '#test/support/tvm-pool.js';

const TON = 1_000_000_000n;
const WHOLE = { workchain: 0, shard: WHOLE_WORKCHAIN };

let tvm: TvmPool;
beforeAll(async () => {
  tvm = await startTvm();
});
afterAll(() => tvm.close());

/** A chain whose basechain has begun. */
async function begin(
  ...options: ConstructorParameters<typeof ProducerChain> extends [unknown, ...infer Rest] ? Rest : never
) {
  const chain = new ProducerChain(tvm, ...options);
  await chain.round();
  await chain.round();
  return chain;
}

/** To whole coins: rent of a few nanotons is taken in between. */
function rounded(balance: bigint | null): bigint {
  return (((balance ?? 0n) + TON / 2n) / TON) * TON;
}

/** The kinds of entries in the descriptions of a block's messages, each with how often. */
function kinds(root: Cell): Record<string, number> {
  const { in_msg_descr, out_msg_descr } = decodeCell(Block, root).extra.value;
  const counts: Record<string, number> = {};
  for (const [, { kind }] of [...in_msg_descr.value, ...out_msg_descr.value]) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

describe('a chain', () => {
  it('begins with the masterchain, then the basechain', async () => {
    const chain = new ProducerChain(tvm);
    const first = await chain.round();
    expect(first.bundle.shards).toEqual([]);
    expect(first.bundle.masterchain.id.seqno).toBe(1);
    const { bundle } = await chain.round();
    expect([bundle.shards.map(({ id }) => id.seqno), bundle.masterchain.id.seqno]).toEqual([[1], 2]);
    for (const { root, id, state, bytes, prev } of [...bundle.shards, bundle.masterchain]) {
      checkBlockHeader(root, id);
      const before = id.workchain === 0 ? chain.genesis.workchains[0]!.state : first.bundle.masterchain.state;
      expect(toHex(applyMerkleUpdate(before, root.ref(2)).hash())).toBe(toHex(state.hash()));
      expect([prev.length, bytes.length > 500]).toEqual([1, true]);
    }
    expect(chain.report).toMatchObject({ blocks: 2, deviations: [] });
  });

  it('takes a masterchain block again for later than the one before when the clock goes back', async () => {
    const chain = await begin();
    const { bundle } = await chain.round({ now: 5 });
    expect(bundle.masterchain.gen_utime).toBe(chain.now - 1);
  });
});

describe('transfers', () => {
  it('arrive within the block, in the masterchain and back, and bounce', async () => {
    const chain = await begin();
    const [from, to] = [chain.wallet('v4r2'), chain.wallet('v3r2')];
    const before = chain.balance(to.address)!;
    const external = chain.transfer(
      from,
      { to: to.address, value: 3n * TON, bounce: false },
      { to: accountAt(7), value: TON, body: commentBody('nobody is here') },
      { to: accountAt(8), value: TON, bounce: false },
      { to: accountAt(9, -1), value: TON },
    );
    const { bundle, externals, counts } = await chain.round({ externals: [external] });
    expect(externals).toEqual([{ message: external, kind: 'included' }]);
    expect(counts.transactions).toBe(3 + 5 + 1);
    // Received here: 3 of 4, and what bounced at once.
    expect(kinds(bundle.shards[0]!.root)).toEqual({
      msg_import_ext: 1,
      msg_import_imm: 4,
      msg_export_imm: 4,
      msg_export_new: 1,
    });
    expect(kinds(bundle.masterchain.root)).toEqual({ msg_import_imm: 1, msg_import_fin: 1, msg_export_new: 1 });
    const back = await chain.round();
    expect(kinds(back.bundle.shards[0]!.root)).toEqual({ msg_import_fin: 1, msg_export_deq_short: 1 });
    await chain.settle();
    expect(chain.balance(to.address)! - before).toBeGreaterThan(2n * TON);
    expect(chain.balance(accountAt(8))).toBe(TON);
    expect([chain.balance(accountAt(7)), chain.balance(accountAt(9, -1))]).toEqual([null, null]);
  });

  it('carry other currencies, which are minted at the beginning, from the masterchain', async () => {
    const chain = await begin();
    const minter = chain.genesis.wallets.find(({ address }) => address.workchain === -1)!;
    const currenciesOf = (id: Uint8Array) => {
      for (const { accounts } of chain.states()) {
        const account = accounts.value.get(id)?.account.value;
        if (account?.kind === 'account') return new Map(account.storage.balance.other);
      }
      return null;
    };
    const minted = currenciesOf(minter.address.hash)!;
    const [[currency, amount]] = [...minted] as [[number, bigint]];
    const value = { grams: TON, other: ExtraCurrencyCollection.of([[currency, amount - 1n]]) };
    await chain.round({ externals: [chain.transfer(minter, { to: accountAt(3), value, bounce: false })] });
    await chain.settle();
    expect(currenciesOf(accountAt(3).hash)).toEqual(new Map([[currency, amount - 1n]]));
    expect(currenciesOf(minter.address.hash)).toEqual(new Map([...minted, [currency, 1n]]));
  });

  it('are destroyed at the address for it', async () => {
    const chain = await begin();
    const externals = [chain.transfer(chain.wallet('v3r2'), { to: accountAt(0xff, -1), value: TON, bounce: false })];
    const { bundle } = await chain.round({ externals });
    const flow = decodeCell(Block, bundle.masterchain.root).value_flow.value;
    expect(flow.kind).toBe('value_flow_v2');
    // The other part is half of the fees.
    const burned = flow.kind === 'value_flow_v2' ? flow.burned.grams : 0n;
    expect(rounded(burned)).toBe(TON);
    expect(chain.balance(accountAt(0xff, -1)) ?? 0n).toBe(0n);
  });

  it('are refused with the exit code of the contract, and for nobody', async () => {
    const chain = await begin();
    const wallet = chain.wallet('v3r2');
    chain.transfer(wallet, { to: accountAt(1), value: 1n });
    const early = chain.transfer(wallet, { to: accountAt(1), value: 1n });
    const nowhere = { message: early.message, dest: accountAt(1, 5) };
    const absent = { message: early.message, dest: accountAt(1) };
    const { externals } = await chain.round({ externals: [early, nowhere, absent] });
    expect(externals).toMatchObject([
      { message: early, kind: 'refused', exit_code: 33 },
      { message: absent, kind: 'refused', exit_code: null },
      { message: nowhere, kind: 'refused', exit_code: null, problem: 'there is no workchain 5' },
    ]);
  });

  it('wait for the next block when it is time to end this one', async () => {
    const chain = await begin();
    const externals = [chain.wallet('v3r2'), chain.wallet('v4r2'), chain.wallet('v5r1')].map((wallet) =>
      chain.transfer(wallet, { to: accountAt(1), value: TON, bounce: false }),
    );
    let asked = 0;
    const full = () => ++asked > 2;
    const first = await chain.round({ externals, full });
    expect(first.externals).toEqual([{ message: externals[0], kind: 'included' }]);
    const second = await chain.round({ externals: externals.slice(1) });
    expect(second.externals.map(({ kind }) => kind)).toEqual(['included', 'included']);
    expect(rounded(chain.balance(accountAt(1)))).toBe(3n * TON);
  });

  it('are included once when they are given twice', async () => {
    const chain = await begin();
    const external = chain.transfer(chain.wallet('v3r2'), { to: accountAt(1), value: TON, bounce: false });
    const { externals } = await chain.round({ externals: [external, { ...external }] });
    expect(externals.map(({ kind }) => kind)).toEqual(['included']);
  });
});

/** A message that no account sent. */
function message(value: bigint, to = accountAt(1)): Cell {
  return encodeCell(Message, {
    info: {
      kind: 'int_msg_info',
      ihr_disabled: true,
      bounce: false,
      bounced: false,
      src: accountAt(0xee),
      dest: to,
      value: onlyGrams(value),
      extra_flags: 0n,
      fwd_fee: 0n,
      created_lt: 0n,
      created_at: 0,
    },
    init: null,
    body: { kind: 'left', value: openCell(new Builder().endCell()) },
  });
}

/** An account that has coins and nothing else. */
function foreign(address = accountAt(0x42), balance = 77n * TON): Cell {
  const account: Account = {
    kind: 'account',
    addr: address,
    storage_stat: {
      used: { cells: 1n, bits: 103n },
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: 0,
      due_payment: null,
    },
    storage: { last_trans_lt: 12n, balance: onlyGrams(balance), state: { kind: 'account_uninit' } },
  };
  const last_trans_hash = new Uint8Array(32).fill(3);
  return encodeCell(ShardAccount, { account: Lazy.ofValue(Account, account), last_trans_hash, last_trans_lt: 11n });
}

describe('overrides', () => {
  it('bring messages, change accounts, take over accounts, publish libraries', async () => {
    const chain = await begin();
    const code = new Builder().storeUint(0xdead, 16).endCell();
    const overrides: StateOverride[] = [
      { kind: 'message', message: message(2n * TON) },
      { kind: 'message', message: message(2n * TON) },
      { kind: 'account', address: accountAt(2), change: { balance: 5n * TON, code, data: code } },
      { kind: 'account', address: chain.wallet('v3r2').address, change: { balance: 1n } },
      { kind: 'import', address: accountAt(0x42), shard_account: foreign() },
      { kind: 'library', library: code },
      { kind: 'import', address: chain.wallet('v4r2').address, shard_account: foreign() },
      { kind: 'account', address: accountAt(1, 9), change: { balance: 1n } },
    ];
    const { failed } = await chain.round({ overrides });
    expect(failed.map(({ override }) => override)).toEqual([overrides[7], overrides[6]]);
    expect(chain.balance(accountAt(1))).toBe(4n * TON);
    expect(chain.balance(accountAt(2))).toBe(5n * TON);
    expect(chain.balance(chain.wallet('v3r2').address)).toBe(1n);
    expect(chain.balance(accountAt(0x42))).toBe(77n * TON);
    expect(chain.states()[0]!.totals.value.libraries.has(code.hash())).toBe(true);
    expect(chain.report!.deviations.map(({ kind }) => kind).sort()).toEqual([
      'account-import',
      'account-set',
      'account-set',
      'library-published',
      'message-injected',
      'message-injected',
    ]);
  });

  it('change the configuration by way of its contract: a key block', async () => {
    const chain = await begin();
    const [masterchain] = chain.states();
    const { config_addr, config } = masterchain!.custom!.value.config;
    const account = masterchain!.accounts.value.get(config_addr)!.account.value;
    if (account.kind !== 'account' || account.storage.state.kind !== 'account_active')
      throw new TypeError('no contract');
    const old = openCell(account.storage.state.state_init.data!);
    const fees = { masterchain_block_fee: 5n, basechain_block_fee: 3n };
    const changed = config.set(14, encodeConfigParam(14, fees));
    const data = new Builder().storeRef(changed.root!);
    old.loadRef();
    data.storeSlice(old);
    const address = accountAt(0x55, -1);
    const { bundle } = await chain.round({
      overrides: [{ kind: 'account', address, change: { data: data.endCell() } }],
    });
    expect(bundle.masterchain.key_block).toBe(true);
    const next = await chain.round();
    expect(next.bundle.masterchain.key_block).toBe(false);
    expect(configParam(chain.states()[0]!.custom!.value.config.config, 14)).toEqual(fees);
    const flow = decodeCell(Block, next.bundle.shards[0]!.root).value_flow.value;
    expect(flow.fees.value.created).toEqual(onlyGrams(3n));
  });
});

describe('accounts of another chain', () => {
  it('are asked for when a message reaches them that does not find them here, as long as they are absent there', async () => {
    const asked: string[] = [];
    let isThere = false;
    const forkedAccount = async (address: Address) => {
      asked.push(address.toRaw());
      // The second one counts as absent at first: it was deleted here, which is undone then.
      return address.toRaw() === accountAt(0x42).toRaw() || isThere ? foreign(address) : null;
    };
    const chain = await begin({ forkedAccount });
    const wallet = chain.wallet('v3r2');
    const pay = () =>
      chain.transfer(wallet, ...[0x42, 0x43].map((byte) => ({ to: accountAt(byte), value: TON, bounce: true })));
    await chain.round({ externals: [pay()] });
    const [first, second] = [accountAt(0x42).toRaw(), accountAt(0x43).toRaw()];
    expect(asked.sort()).toEqual([first, second]);
    expect([chain.balance(accountAt(0x42))! > 76n * TON, chain.balance(accountAt(0x43))]).toEqual([true, null]);
    isThere = true;
    for (let i = 0; i < 3; i++) await chain.round({ externals: [pay()] });
    expect(asked.sort()).toEqual([first, second, second]);
    expect(chain.balance(accountAt(0x43))).toBeGreaterThan(76n * TON);
  });
});

describe('machines that fail', () => {
  it('do not lose messages: they are tried again, and at last only bring their value', async () => {
    const emulation = {
      emulateTickTock: tvm.emulateTickTock.bind(tvm),
      emulateTransaction: async (request: Parameters<TvmPool['emulateTransaction']>[0]) => {
        const { info } = decodeCell(Message, request.message);
        const broken = info.kind === 'int_msg_info' && toHex(encodeHash(info.dest)) === toHex(accountAt(0x66).hash);
        if (broken) throw tvmErrors.crashed({ problem: 'for the test' });
        return tvm.emulateTransaction(request);
      },
    };
    const chain = new ProducerChain(emulation);
    await chain.round();
    await chain.round();
    const wallet = chain.wallet('v3r2');
    const externals = [
      chain.transfer(wallet, { to: accountAt(0x66), value: TON }, { to: accountAt(1), value: TON, bounce: false }),
    ];
    await chain.round({ externals });
    expect([chain.balance(accountAt(0x66)), chain.balance(accountAt(1))]).toEqual([null, null]);
    await chain.round();
    expect([chain.balance(accountAt(0x66)), chain.balance(accountAt(1))]).toEqual([null, null]);
    await chain.round();
    expect([chain.balance(accountAt(0x66)), chain.balance(accountAt(1))]).toEqual([TON, TON]);
  });
});

function encodeHash(address: unknown): Uint8Array {
  return (address as { readonly hash: Uint8Array }).hash;
}

describe('shards', () => {
  it('split and merge on demand while messages are on their way', async () => {
    const chain = await begin();
    const wallets = [...chain.genesis.wallets].filter(
      ({ address, version }) => address.workchain === 0 && version !== 'highload-v3',
    );
    let sent = 0n;
    const traffic = () => {
      sent++;
      return wallets.map((wallet, i) =>
        chain.transfer(
          wallet,
          { to: wallets[(i + 1) % wallets.length]!.address, value: TON },
          { to: accountAt(i * 40), value: TON, bounce: false },
        ),
      );
    };
    let shards = await chain.round({ externals: traffic(), wants: { split: [WHOLE], merge: [] } });
    const seen = new Set<number>();
    for (let i = 0; i < 6; i++) {
      shards = await chain.round({ externals: traffic() });
      seen.add(shards.bundle.shards.length);
    }
    expect([...seen].at(-1)).toBe(2);
    const halves = () => chain.tip.shards.map(({ id }) => ({ workchain: 0, shard: id.shard }));
    for (let i = 0; i < 20 && halves().length === 2; i++)
      shards = await chain.round({ externals: traffic(), wants: { split: [], merge: halves() } });
    expect(shards.bundle.shards[0]!.prev.length).toBe(2);
    await chain.settle();
    expect(halves()).toEqual([WHOLE]);
    for (let i = 0; i < wallets.length; i++) expect(rounded(chain.balance(accountAt(i * 40)))).toBe(sent * TON);
  });
});
