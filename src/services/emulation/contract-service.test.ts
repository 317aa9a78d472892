import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NO_CODE } from '#drivers/tvm/get-method.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { LiteServerRunSmcMethod } from '#formats/tl/lite-api.js';
import { Account, stateInitOf } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { configDictionary, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { messageBodyCell } from '#formats/tlb/message.js';
import { VmStack, vmInt } from '#formats/tlb/vm-stack.js';
import { toHex } from '#kernel/bytes.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';
import { DEV_CHAIN, type ReplayedContracts, replayedContracts } from '#test/support/replayed-contracts.js';
import { signingWallet } from '#test/support/signing-wallets.js';
import { shapeOfValue } from '#test/support/tonlib-stack.js';
import { codeOf, libraryCell } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

let tvm: TvmPool;
let contracts: ReplayedContracts;
beforeAll(async () => {
  tvm = await startTvm({ workers: 1 });
  contracts = replayedContracts(DEV_CHAIN, tvm);
});
afterAll(() => tvm.close());

/** What was asked of servers since the last call of this. */
let asked = 0;
function questions(): string[] {
  const all = contracts.source.asked.map(({ fn }) => fn.replace('liteServer.', ''));
  const fresh = all.slice(asked);
  asked = all.length;
  return fresh;
}

const ELECTOR = Address.ofParts(-1, new Uint8Array(32).fill(0x33));
const NOBODY = Address.ofParts(0, new Uint8Array(32).fill(0xab));
const MAIN_WALLET = parseAddress('Ef8zP5J9sTmsqH8AHJBXyluY-BZdGyo1Dn-rk5DIYfflH8Uy').address;

/** An account with this code, next to those of the chain. */
function deployed(code: Cell, data: Cell = EMPTY_CELL): { readonly address: Address } & Partial<ChainReads> {
  const address = Address.ofParts(0, code.hash());
  return {
    address,
    async account(asked, options) {
      const read = await contracts.chain.account(asked, options);
      if (!asked.equals(address)) return read;
      const used = { cells: 1n, bits: 1n };
      const storage_stat = {
        used,
        storage_extra: { kind: 'storage_extra_none' },
        last_paid: 1,
        due_payment: null,
      } as const;
      const state = { kind: 'account_active', state_init: stateInitOf(code, data) } as const;
      const storage = { last_trans_lt: 0n, balance: onlyGrams(10n ** 9n), state };
      const account: Account = { kind: 'account', addr: address, storage_stat, storage };
      return { ...read, cell: encodeCell(Account, account), account };
    },
  };
}

/** Drops the method id first. */
const method = (hex: string, ...refs: Cell[]): Cell => codeOf(`30${hex}`, ...refs);

describe('a get method', () => {
  it('runs on the proven state of the newest block', async () => {
    const service = contracts.serviceOver();
    const head = await contracts.chain.head();
    const { last_transaction, account } = await contracts.chain.account(MAIN_WALLET);
    const read = await service.runGetMethod(MAIN_WALLET, 'seqno', []);
    expect(read).toMatchObject({
      exit_code: 0,
      block: head.block,
      last_transaction,
      ran_on: 'local',
      ran_on_reason: null,
    });
    expect(read.gas_used).toBeGreaterThan(0);
    const state = account?.kind === 'account' && account.storage.state;
    const data = state && state.kind === 'account_active' ? state.state_init.data! : null;
    const seqno = new DataView(data!.bytes.buffer, data!.bytes.byteOffset + data!.dataOffset).getUint32(0);
    expect(read.stack.map(shapeOfValue)).toEqual([String(seqno)]);
    expect(await service.runGetMethod(MAIN_WALLET, 85143, [])).toEqual(read);
    expect(await service.runGetMethod(MAIN_WALLET, '85143', [])).toEqual(read);
  });

  it('runs on the state of an older block, with its time', async () => {
    const service = contracts.serviceOver();
    const changes = deployed(method('f823')); // NOW
    const timer = contracts.serviceOver({}, changes);
    for (const at of [300, 120]) {
      const { account, last_transaction } = await contracts.chain.account(MAIN_WALLET, { at });
      const { shard_utime } = await contracts.chain.account(changes.address, { at });
      const read = await service.runGetMethod(MAIN_WALLET, 'seqno', [], { at });
      expect(read.block.seqno).toBe(at);
      expect(read.last_transaction).toEqual(last_transaction);
      expect(account?.kind === 'account').toBe(read.exit_code === 0);
      const now = await timer.runGetMethod(changes.address, 'now', [], { at });
      expect(now.stack).toEqual([vmInt(shard_utime!)]);
    }
    const id = await contracts.chain.blockId(200);
    expect((await service.runGetMethod(ELECTOR, 'active_election_id', [], { at: id })).block).toEqual(id);
  });

  it('of an account without code ends as in the references', async () => {
    const service = contracts.serviceOver();
    const read = await service.runGetMethod(NOBODY, 'seqno', [vmInt(5)]);
    expect(read).toMatchObject({ exit_code: NO_CODE, gas_used: 0, last_transaction: null });
    expect(read.stack).toEqual([vmInt(5), vmInt(85143)]);
  });

  it('of an account in no workchain is refused', async () => {
    const service = contracts.serviceOver();
    const code = 'contracts/no-workchain';
    const nowhere = Address.ofParts(5, NOBODY.hash);
    await expect(service.runGetMethod(nowhere, 'seqno', [])).rejects.toMatchObject({ code });
    await expect(contracts.serviceOver({ getMethods: 'node' }).runGetMethod(nowhere, 'x', [])).rejects.toMatchObject({
      code,
    });
  });

  it('at a block that is not of the masterchain is refused', async () => {
    const { shard_block } = await contracts.chain.account(NOBODY);
    const run = contracts.serviceOver().runGetMethod(MAIN_WALLET, 'seqno', [], { at: shard_block! });
    await expect(run).rejects.toMatchObject({ code: 'chain/masterchain-only' });
  });

  it('has the gas that the option gives it', async () => {
    const changes = deployed(method('817530920000e4')); // 30,000 times: NOP NOP
    // As slow as this machine may be.
    const patient = { runTimeoutMs: 60_000, cpuMs: 60_000, deadlineMs: 120_000 };
    const run = (gas: { getMethodGas?: number } = {}) =>
      contracts.serviceOver({ ...patient, ...gas }, changes).runGetMethod(changes.address, 'x', []);
    expect(await run()).toMatchObject({ exit_code: 0, gas_used: 1_230_119 });
    expect(await run({ getMethodGas: 1_000_000 })).toMatchObject({ exit_code: -14 });
    expect(await run({ getMethodGas: 5_000 })).toMatchObject({ exit_code: -14 });
  });

  it('is given up with its caller, or with the time', async () => {
    const service = contracts.serviceOver();
    const run = (options: object) => service.runGetMethod(MAIN_WALLET, 'seqno', [], options);
    await expect(run({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'chain/aborted' });
    await expect(run({ deadlineMs: 0 })).rejects.toMatchObject({ code: 'chain/deadline' });
  });
});

describe('what runs share', () => {
  it('is one configuration for all blocks up to the next key block', async () => {
    const service = contracts.serviceOver();
    await service.runGetMethod(MAIN_WALLET, 'seqno', []);
    questions();
    for (let i = 0; i < 3; i++) await service.runGetMethod(MAIN_WALLET, 'seqno', []);
    expect(questions()).toEqual(Array(3).fill('getAccountState'));
    for (const at of [377, 375, 376]) await service.runGetMethod(MAIN_WALLET, 'seqno', [], { at });
    const many = questions();
    expect(many.filter((fn) => fn === 'getConfigAll')).toEqual([]);
    expect(many.filter((fn) => fn === 'getBlockHeader')).toEqual([]);
    expect(service.metrics()).toMatchObject({ local_runs: 7, node_runs: 0, config_fetches: 1, prev_blocks_fetches: 0 });
  });

  it('is fetched once for all who ask at the same time', async () => {
    const service = contracts.serviceOver();
    const runs = Array.from({ length: 8 }, () => service.runGetMethod(MAIN_WALLET, 'seqno', []));
    expect(new Set((await Promise.all(runs)).map(({ exit_code }) => exit_code))).toEqual(new Set([0]));
    expect(service.metrics().config_fetches).toBe(1);
  });

  it('are the previous blocks, for contracts that read them', async () => {
    const changes = deployed(method('f83400')); // PREVMCBLOCKS
    const service = contracts.serviceOver({}, changes);
    const expected = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const { root_hash } = await contracts.chain.blockId(300 - i);
        return BigInt(`0x${toHex(root_hash)}`).toString();
      }),
    );
    for (let i = 0; i < 2; i++) {
      const { exit_code, stack } = await service.runGetMethod(changes.address, 'x', [], { at: 300 });
      expect(exit_code).toBe(0);
      const [list] = stack.map(shapeOfValue) as [{ tuple: { tuple: string[] }[] }];
      expect(list.tuple.map(({ tuple }) => tuple[2])).toEqual(Array.from({ length: 16 }, (_, j) => String(300 - j)));
      expect(list.tuple.map(({ tuple }) => tuple[3])).toEqual(expected);
    }
    expect(service.metrics().prev_blocks_fetches).toBe(1);
  });

  it('are libraries, which count as published for some blocks', async () => {
    const library = method('72'); // 2
    const changes = deployed(libraryCell(library.hash()));
    let published = new Map([[toHex(library.hash()), library]]);
    const service = contracts.serviceOver(
      {},
      {
        ...changes,
        libraries: async (hashes, options) => ({
          ...(await contracts.chain.libraries(hashes, options)),
          libraries: published,
        }),
      },
    );
    const run = async (at: number) => (await service.runGetMethod(changes.address, 'x', [], { at })).exit_code;
    expect([await run(200), await run(200), await run(300)]).toEqual([0, 0, 0]);
    expect(service.metrics().library_fetches).toBe(1);
    published = new Map();
    expect(await run(250)).toBe(0);
    expect(service.metrics().library_fetches).toBe(1);
    // Before it was seen, and long after, it is asked for again; a library that is not there leaves nothing to run.
    expect(await run(150)).not.toBe(0);
    expect(await run(301)).not.toBe(0);
    expect(service.metrics().library_fetches).toBe(3);
  });

  it('are not the libraries that an account has itself', async () => {
    const library = method('73'); // 3
    const code = libraryCell(library.hash());
    const changes = deployed(code);
    const own = contracts.serviceOver(
      {},
      {
        async account(address, options) {
          const read = await changes.account!(address, options);
          if (read.account?.kind !== 'account' || read.account.storage.state.kind !== 'account_active') return read;
          const { storage } = read.account;
          const init = read.account.storage.state.state_init;
          const list = init.library.set(library.hash(), { public: false, root: library });
          const state = { kind: 'account_active', state_init: { ...init, library: list } } as const;
          return { ...read, account: { ...read.account, storage: { ...storage, state } } };
        },
      },
    );
    expect(await own.runGetMethod(changes.address, 'x', [])).toMatchObject({ exit_code: 0, stack: [vmInt(3)] });
    expect(own.metrics().library_fetches).toBe(0);
  });
});

describe('a network with newer rules than the emulator', () => {
  /** The chain, its configuration of global version 14. */
  function newer(): Partial<ChainReads> {
    return {
      async config(options) {
        const read = await contracts.chain.config(options);
        const version = encodeConfigParam(8, { version: 14, capabilities: 494n });
        return { ...read, root: configDictionary(read.root).set(8, version).root! };
      },
    };
  }

  it('has nodes run its get methods, and says so', async () => {
    const service = contracts.serviceOver({}, newer());
    const local = await contracts.serviceOver().runGetMethod(MAIN_WALLET, 'seqno', []);
    const read = await service.runGetMethod(MAIN_WALLET, 'seqno', []);
    const reason = 'the network has global version 14, the emulator supports 13';
    expect(read).toEqual({ ...local, gas_used: 0, ran_on: 'node', ran_on_reason: reason });
    expect(service.metrics()).toMatchObject({ local_runs: 0, node_runs: 1 });
    expect(service.status()).toEqual({
      mode: 'auto',
      network_version: 14,
      emulator_version: 13,
      ran_on: 'node',
      reason,
    });
  });

  it('is an error where nodes are not to be asked', async () => {
    const service = contracts.serviceOver({ getMethods: 'local' }, newer());
    const run = service.runGetMethod(MAIN_WALLET, 'seqno', []);
    await expect(run).rejects.toMatchObject({
      code: 'contracts/emulator-too-old',
      data: { network: 14, emulator: 13 },
    });
    expect(service.status()).toMatchObject({ mode: 'local', ran_on: 'nowhere' });
  });

  it('makes an estimate of fees one with a caveat', async () => {
    const question = { address: NOBODY, body: EMPTY_CELL, init_code: null, init_data: null, ignore_chksig: true };
    const newerFees = await contracts.serviceOver({}, newer()).estimateFee(question);
    const fees = await contracts.serviceOver().estimateFee(question);
    expect(fees.caveat).toBeNull();
    expect(newerFees).toEqual({ ...fees, caveat: expect.stringMatching(/version 13; the network has version 14/) });
  });
});

describe('a node that runs get methods', () => {
  it('gives what runs here give, but no gas', async () => {
    const here = contracts.serviceOver();
    const node = contracts.serviceOver({ getMethods: 'node' });
    const ran_on_reason = 'get methods are configured to run on nodes';
    for (const [address, name, stack] of [
      [MAIN_WALLET, 'seqno', []],
      [ELECTOR, 'active_election_id', []],
      [ELECTOR, 'past_elections', []],
      [ELECTOR, 'participates_in', [vmInt(7)]],
      [ELECTOR, 'no_such_method', []],
      [NOBODY, 'seqno', [vmInt(1)]],
    ] as const) {
      for (const at of ['head', 250] as const) {
        const local = await here.runGetMethod(address, name, stack, { at });
        const read = await node.runGetMethod(address, name, stack, { at });
        expect(read).toMatchObject({ ...local, stack: expect.anything(), gas_used: 0, ran_on: 'node', ran_on_reason });
        expect(read.stack.map(shapeOfValue)).toEqual(local.stack.map(shapeOfValue));
      }
    }
    expect(node.status()).toMatchObject({ mode: 'node', ran_on: 'node', reason: ran_on_reason });
    expect(node.metrics()).toMatchObject({ local_runs: 0, node_runs: 12 });
  });

  it('does not lie when a contract leaves a stack that is nested too deep', async () => {
    let stack = encodeCell(VmStack, []);
    for (let i = 0; i < 400; i++) {
      const value = new Builder().storeUint(6, 8).storeUint(0b0001, 4).storeSlice(openCell(stack)).storeUint(0, 2);
      const item = value.storeRef(EMPTY_CELL).storeUint(0, 26).endCell();
      stack = new Builder().storeUint(1, 24).storeRef(EMPTY_CELL).storeUint(0x070001, 24).storeRef(item).endCell();
    }
    const result = serializeBoc(stack);
    const { source } = contracts;
    const query = source.query.bind(source);
    const spy = vi.spyOn(source, 'query').mockImplementation((request) => {
      const isRun = request.fn.name === LiteServerRunSmcMethod.name;
      return query({
        ...request,
        verify: (answer) => request.verify(isRun ? ({ ...(answer as object), result } as typeof answer) : answer),
      });
    });
    const run = contracts.serviceOver({ getMethods: 'node' }).runGetMethod(MAIN_WALLET, 'seqno', []);
    await expect(run).rejects.toMatchObject({ code: 'tlb/vm-nesting' });
    expect(source.faults).toEqual([]);
    spy.mockRestore();
  });
});

describe('options', () => {
  it('are checked', () => {
    const bad = (options: object) => () => contracts.serviceOver(options);
    const code = 'contracts/option';
    for (const options of [{ getMethods: 'remote' }, { getMethodGas: 0 }, { runTimeoutMs: 1.5 }, { configs: 65 }]) {
      expect(bad(options)).toThrow(expect.objectContaining({ code }));
    }
  });
});

describe('fees', () => {
  it('are those of the transactions that messages made', async () => {
    const { chain } = contracts;
    const service = contracts.serviceOver();
    const compared = new Set<string>();
    for (const { kind, address } of recordedAccounts) {
      if (!kind.startsWith('wallet_')) continue;
      for await (const { lt, transaction } of chain.walkTransactions(address)) {
        const message = transaction.in_msg;
        const { block } = await chain.transaction(address, lt);
        const { header } = await chain.header({ at: block });
        const at = header.master_ref!.seqno;
        const { last_transaction, account } = await chain.account(address, { at });
        if (message?.value.info.kind !== 'ext_in_msg_info' || account?.kind !== 'account') continue;
        if (last_transaction?.lt !== transaction.prev_trans_lt || message.value.init !== null) continue;
        const body = messageBodyCell(message.value);
        const question = { address, body, init_code: null, init_data: null, ignore_chksig: false };
        const fees = await service.estimateFee(question, { at });
        const description = transaction.description.value;
        if (description.kind !== 'trans_ord') throw new TypeError(description.kind);
        const { compute_ph, action, storage_ph } = description;
        if (compute_ph.kind !== 'tr_phase_compute_vm') throw new TypeError(compute_ph.kind);
        const storage = storage_ph?.storage_fees_collected ?? 0n;
        const actions = action?.value.total_action_fees ?? 0n;
        expect([kind, fees.gas_fee]).toEqual([kind, compute_ph.gas_fees]);
        expect([kind, fees.fwd_fee]).toEqual([kind, action?.value.total_fwd_fees ?? 0n]);
        const total = transaction.total_fees.grams;
        expect([kind, fees.in_fwd_fee]).toEqual([kind, total - fees.gas_fee - storage - actions]);
        // The transaction came some seconds after the block whose state it was.
        expect(fees.storage_fee).toBeLessThanOrEqual(storage);
        expect(fees.storage_fee).toBeGreaterThanOrEqual(storage - 100n);
        compared.add(kind);
      }
    }
    const highload = ['hv1r1', 'hv1r2', 'hv2', 'hv2r1', 'hv2r2', 'hv3', 'pp2'];
    const kinds = [...highload, 'v1r1', 'v1r2', 'v1r3', 'v2r1', 'v2r2', 'v3r1', 'v4r1', 'v5r1'];
    expect([...compared].sort()).toEqual(kinds.map((kind) => `wallet_${kind}`));
  });

  it('of an account without coins are those it will have', async () => {
    const service = contracts.serviceOver();
    const wallet = signingWallet('wallet_v4r2', { seqno: 0, wallet_id: 1 });
    const { code: init_code, data: init_data } = wallet.init;
    const body = wallet.message({ seqno: 0, wallet_id: 1, valid_until: 0xffffffff }).ref(0);
    const question = { address: wallet.address, body, init_code, init_data };
    const fees = await service.estimateFee({ ...question, ignore_chksig: false });
    // 2,994 units of gas and the flat part of the price; the message has the code of the wallet with it.
    expect(fees).toMatchObject({ storage_fee: 0n, fwd_fee: 0n });
    expect(fees.gas_fee).toBeGreaterThan(1_000_000n);
    expect(fees.in_fwd_fee).toBeGreaterThan(3_000_000n);
    const spoiled = { ...question, body: wallet.message({ seqno: 1, wallet_id: 1, valid_until: 0xffffffff }).ref(0) };
    // What it costs until it is refused.
    expect((await service.estimateFee({ ...spoiled, ignore_chksig: true })).gas_fee).toBe(363_200n);
    const nothing = await service.estimateFee({ ...question, init_code: null, init_data: null, ignore_chksig: true });
    expect(nothing).toMatchObject({ gas_fee: 40_000n, in_fwd_fee: 400_000n, storage_fee: 0n, fwd_fee: 0n });
  });
});
