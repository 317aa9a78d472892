import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { Account, type AccountState, ShardAccount, stateInitOf } from '#formats/tlb/account.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import {
  type ConfigParamIndex,
  type ConfigParamValue,
  configParam,
  encodeConfigParam,
} from '#formats/tlb/config/config-params.js';
import type { ValidatorDescr } from '#formats/tlb/config/validators.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import type { LiveNode } from '#localnet/node/live-node.js';
import { type StartedNode, startNode } from '#localnet/node/start-node.js';
import { buildInternalMessage } from '#localnet/wallets/create-transfer.js';

const COIN = 1_000_000_000n;
const away = mkdtempSync(join(tmpdir(), 'tern-live-node-'));
const genesis = makeGenesis({ now: Math.floor(Date.now() / 1000), randomBytes });
let started: StartedNode | null = null;
/** The newest masterchain state. */
let newest = genesis.masterchain.state;

afterAll(async () => {
  await started?.close();
  rmSync(away, { recursive: true, force: true });
});

/** Starts a node that makes blocks on demand, after the one before has ended. */
async function start(folder: string, forkSource?: ForkSource): Promise<LiveNode> {
  await started?.close();
  started = await startNode(
    {
      folder,
      replacesChain: false,
      production: { blockTimeMs: 1_000, paused: true, mining: 'steady' },
      liteserver: { host: '127.0.0.1', port: 0 },
      signatureKind: 'ordinary',
    },
    {
      ...{ clock: systemClock, unixTimeMs: Date.now, random: Math.random, randomBytes, logger: silentLogger },
      makeGenesis: () => genesis,
      onProduced: ({ bundle }) => {
        newest = bundle.masterchain.state;
      },
      ...(forkSource === undefined ? {} : { forkSource }),
    },
  );
  return started.node;
}

const zeros = new Uint8Array(32);
const account = (byte: number) => Address.ofParts(0, new Uint8Array(32).fill(byte));

describe('a change of the configuration', () => {
  const { config } = decodeCell(ShardStateUnsplit, genesis.masterchain.state).custom!.value.config;
  const validators = configParam(config, 34)!;
  const own = validators.list.get(0)!;
  const other: ValidatorDescr = { ...own, public_key: { ...own.public_key, pubkey: new Uint8Array(32).fill(7) } };
  const workchains = configParam(config, 12)!;
  const basechain = workchains.get(0)!;

  function setOf(main: number, ...members: readonly ValidatorDescr[]): typeof validators {
    const { list } = validators;
    return {
      ...validators,
      kind: 'validators_ext',
      total: members.length,
      main,
      total_weight: members.reduce((sum, { weight }) => sum + weight, 0n),
      list: members.reduce((all, member, i) => all.set(i, member), list.delete(0)),
    };
  }

  let node: LiveNode;
  beforeAll(async () => {
    node = await start(join(away, 'own'));
  });

  const set = <I extends ConfigParamIndex>(index: I, value: ConfigParamValue<I>) =>
    node.setConfigParam(index, serializeBoc(encodeConfigParam(index, value)));

  it('is refused when no block could be signed after it', async () => {
    const sets = [setOf(1, other), setOf(1, other, own), setOf(2, own, other), { ...setOf(1, own), total_weight: 1n }];
    for (const index of [34, 35] as const) {
      for (const each of sets) await expect(set(index, each)).rejects.toMatchObject({ code: 'localnet/not-made' });
    }
    await expect(set(34, sets[0]!)).rejects.toThrow(
      /no block could be signed; include the key [0-9a-f]{64} of this network once, as the first validator/,
    );
    await expect(set(34, sets[2]!)).rejects.toThrow('among the first 2 validators, with more than two thirds');
    await node.mine(2);
  });

  it('is refused when a workchain begins that the network does not have', async () => {
    for (const each of [workchains.set(1, basechain), workchains.set(0, { ...basechain, zerostate_root_hash: zeros })])
      await expect(set(12, each)).rejects.toMatchObject({ code: 'localnet/not-made' });
    await expect(set(12, workchains.set(1, basechain))).rejects.toThrow(
      'workchain 1 is active, but the network has no zerostate with its hashes',
    );
    await node.mine(2);
  });

  it('is made when blocks can follow it', async () => {
    await set(12, workchains.set(0, { ...basechain, max_split: 2 }).set(1, { ...basechain, active: false }));
    await set(34, setOf(2, { ...other, weight: 1n }, own));
    await set(35, setOf(1, own, other));
    await set(28, { ...configParam(config, 28)!, shard_validators_num: 2 });
    await node.mine(3);
    await node.setConfigParam(35, null);
    await node.mine(3);
  });

  const inForce = () => decodeCell(ShardStateUnsplit, newest).custom!.value.config;
  const own32 = (value: number) => new Builder().storeUint(value, 32).endCell();
  const setOwn = (index: number, value: number) => node.setConfigParam(index, serializeBoc(own32(value)));

  it('is refused when blocks would ignore it, and the next one is made', async () => {
    const before = (await node.status()).head.seqno;
    await expect(node.setConfigParam(16, null)).rejects.toThrow(
      'parameter 9 requires parameter 16, which would be missing',
    );
    await expect(setOwn(500, 1)).rejects.toThrow('there is no parameter 500');
    await expect(setOwn(500, 1)).rejects.toMatchObject({ code: 'localnet/not-made' });
    expect((await node.status()).head.seqno).toBe(before);
    await setOwn(-999, 7);
    expect(inForce().config.get(-999)?.hash()).toEqual(own32(7).hash());
    expect(inForce().config.has(16)).toBe(true);
  });

  it('is made when the contract has a configuration that blocks ignore', async () => {
    const { config_addr } = inForce();
    const contract = decodeCell(ShardStateUnsplit, newest).accounts.value.get(config_addr)!.account.value;
    if (contract.kind !== 'account' || contract.storage.state.kind !== 'account_active') throw new TypeError('none');
    const rest = openCell(contract.storage.state.state_init.data!);
    rest.loadRef();
    const ignored = inForce().config.delete(16).root!;
    const data = new Builder().storeRef(ignored).storeSlice(rest).endCell();
    await node.setAccount(Address.ofParts(-1, config_addr), { data });
    await setOwn(-998, 8);
    expect(inForce().config.get(-998)?.hash()).toEqual(own32(8).hash());
    expect(inForce().config.has(16)).toBe(true);
  });

  it('takes nothing from others that are made at the same time', async () => {
    const indexes = [-101, -102, -103, -104];
    const outcomes = await Promise.allSettled([...indexes.map((index) => setOwn(index, 5)), setOwn(500, 1)]);
    expect(outcomes.map(({ status }) => status)).toEqual([...indexes.map(() => 'fulfilled'), 'rejected']);
    expect(indexes.filter((index) => !inForce().config.has(index))).toEqual([]);
  });
});

/** A message between accounts. */
function messageTo(dest: Address, src: Address): Uint8Array {
  const info = {
    kind: 'int_msg_info',
    ...{ ihr_disabled: true, bounce: false, bounced: false, src, dest },
    ...{ value: onlyGrams(COIN), extra_flags: 0n, fwd_fee: 0n, created_lt: 0n, created_at: 0 },
  } as const;
  const message: Message = { info, init: null, body: { kind: 'right', value: new Builder().endCell() } };
  return serializeBoc(encodeCell(Message, message));
}

describe('requests at the same time', () => {
  let node: LiveNode;
  let faucet: Address;
  beforeAll(async () => {
    node = await start(join(away, 'busy'));
    faucet = (await node.wallets()).find(({ mnemonic }) => mnemonic === null)!.address;
  });

  it('revert what is in the block under way', async () => {
    const { id } = await node.snapshot();
    for (let round = 0; round < 5; round++) {
      const gift = node.fund(account(0xb1), COIN, null);
      while ((await node.status()).waiting_messages === 0) await setImmediate();
      const { block } = await node.revert(id);
      expect(await node.touch(account(0xb1))).toBeNull();
      await Promise.allSettled([gift]);
      expect(await node.touch(account(0xb1))).toBeNull();
      expect((await node.status()).head.seqno).toBeGreaterThanOrEqual(block.seqno);
    }
  });

  it('share blocks', async () => {
    const before = (await node.status()).head.seqno;
    // The checks of the messages end one after the other.
    const gifts = Array.from({ length: 24 }, () => node.fund(account(0xb2), COIN, null));
    const { block } = (await Promise.all(gifts)).at(-1)!;
    expect(block.seqno - before).toBeLessThan(16);
    const messages = Array.from({ length: 6 }, () => node.runMessageAs(messageTo(account(0xb2), account(0xb3))));
    const sent = await Promise.all(messages);
    expect(new Set(sent.map((each) => each.block.seqno)).size).toBe(1);
    expect((await node.status()).head.seqno).toBe(sent[0]!.block.seqno);
    expect(new Set(sent.map(({ message_hash }) => toHex(message_hash))).size).toBe(6);
  });

  it('get no more from the faucet than it has', async () => {
    await node.setAccount(faucet, { balance: 1_000n * COIN });
    const gifts = [0xb4, 0xb5].map((byte) => node.fund(account(byte), 600n * COIN, null));
    const outcomes = await Promise.allSettled(gifts);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'localnet/not-made' } });
    expect(await node.touch(account(0xb4))).not.toBeNull();
    // What was promised is free again.
    await node.fund(account(0xb5), 300n * COIN, null);
    expect(await node.touch(account(0xb5))).not.toBeNull();
  });

  it('are answered when the coins have arrived, in another shard as well', async () => {
    await node.split({ workchain: 0, shard: 1n << 63n });
    for (const there of [account(0x16), account(0xb6), Address.ofParts(-1, new Uint8Array(32).fill(0xb6))]) {
      const { block } = await node.fund(there, COIN, null);
      expect(await node.touch(there)).not.toBeNull();
      // It needs no more than the blocks that deliver it and take it out of the queue.
      expect((await node.status()).head.seqno - block.seqno).toBeLessThanOrEqual(2);
    }
  });

  it('move the time no further than blocks can be', async () => {
    const { now } = await node.status();
    const most = 2 ** 32 - 1 - now - 3_600;
    const outcomes = await Promise.allSettled([node.advanceTime(most), node.advanceTime(most)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'localnet/not-made' } });
    await node.mine(1);
  });
});

describe('a fork that returns to a snapshot', () => {
  const [quiet, early, late, nobody] = [account(0xa1), account(0xa2), account(0xa3), account(0xa4)];

  /** Sends all that it has, with the message in its data: c4 PUSHCTR, CTOS, 0 PLDREFIDX, 160 PUSHINT, SENDRAWMSG. */
  const code = new Builder().storeBytes(fromHex('ed44d0d74c8100a0fb00')!).endCell();
  const data = new Builder().storeRef(buildInternalMessage({ to: nobody, value: 0n, bounce: false })).endCell();
  const ending: AccountState = { kind: 'account_active', state_init: stateInitOf(code, data) };

  const foreign = (address: Address, state: AccountState): readonly [string, Cell] => [
    address.toRaw(),
    encodeCell(ShardAccount, {
      account: Lazy.ofValue(Account, {
        kind: 'account',
        addr: address,
        storage_stat: {
          used: { cells: 1n, bits: 103n },
          storage_extra: { kind: 'storage_extra_none' },
          last_paid: Math.floor(Date.now() / 1000),
          due_payment: null,
        },
        storage: { last_trans_lt: 2n, balance: onlyGrams(7n * COIN), state },
      }),
      last_trans_hash: new Uint8Array(32).fill(9),
      last_trans_lt: 1n,
    }),
  ];
  const there = new Map([foreign(quiet, { kind: 'account_uninit' }), foreign(early, ending), foreign(late, ending)]);
  const source: ForkSource = {
    account: async (address) => there.get(address.toRaw()) ?? null,
    library: async () => null,
    transactions: () => Promise.reject(new Error('not asked for')),
  };

  /** Ends an account by a message to it. */
  async function end(node: LiveNode, address: Address): Promise<void> {
    await node.runMessageAs(messageTo(address, nobody));
  }

  /** Which of the accounts there are, after those that can be imported have been. */
  async function found(node: LiveNode): Promise<readonly boolean[]> {
    const all: boolean[] = [];
    for (const address of [quiet, early, late]) all.push((await node.touch(address)) !== null);
    return all;
  }

  it('can import what it imported after it, and nothing that was deleted before it', async () => {
    const folder = join(away, 'fork');
    let node = await start(folder, source);
    expect(await node.touch(early)).not.toBeNull();
    await end(node, early);
    expect(await node.touch(early)).toBeNull();
    const before = await node.snapshot();

    expect(await found(node)).toEqual([true, false, true]);
    await end(node, late);
    await node.fund(early, COIN, null);
    expect(await found(node)).toEqual([true, true, false]);
    const after = await node.snapshot();

    await node.revert(before.id);
    expect(await found(node)).toEqual([true, false, true]);
    await node.revert(after.id);
    expect(await found(node)).toEqual([true, true, false]);
    await node.revert(before.id);

    node = await start(folder, source);
    expect(await found(node)).toEqual([true, false, true]);
  });
});
