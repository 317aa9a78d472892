import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account, ShardAccount } from '#formats/tlb/account.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { type Message, messageBodyCell } from '#formats/tlb/message.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import {
  buildInternalMessage,
  commentBody,
  createTransfer,
  type OutgoingMessage,
  type TransferOptions,
} from '#localnet/wallets/create-transfer.js';
import { type FundedWallet, signingKey, walletContract } from '#localnet/wallets/wallet-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

const NOW = 1_800_000_000;
const genesis = makeGenesis({ now: NOW, randomBytes: (size) => new Uint8Array(size).fill(3) });
const states = [genesis.masterchain, ...genesis.workchains].map(({ id, state }) => ({
  workchain: id.workchain,
  state: decodeCell(ShardStateUnsplit, state),
}));
const config = states[0]!.state.custom!.value.config.config.root!;
const to = Address.ofParts(0, new Uint8Array(32).fill(0xab));
const NONE = encodeCell(ShardAccount, {
  account: Lazy.ofValue(Account, { kind: 'account_none' }),
  last_trans_hash: new Uint8Array(32),
  last_trans_lt: 0n,
});

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm();
});
afterAll(() => pool.close());

function accountOf({ address }: { readonly address: Address }): Cell {
  const { state } = states.find(({ workchain }) => workchain === address.workchain)!;
  const account = state.accounts.value.get(address.hash);
  return account === undefined ? NONE : encodeCell(ShardAccount, account);
}

/** A transaction that went well: what was sent, and the account afterwards. */
interface Ran {
  readonly transaction: Transaction;
  readonly out: readonly Message[];
  readonly account: Cell;
}

async function run(account: Cell, message: Cell, lt = 1_000_001n): Promise<Ran> {
  const result = await pool.emulateTransaction({ shard_account: account, message, config, now: NOW, lt });
  if (!result.accepted) throw new Error(`not accepted: ${result.exit_code} ${result.problem}`);
  const transaction = decodeCell(Transaction, result.transaction);
  const out = [...transaction.out_msgs].map(([, each]) => each.value);
  return { transaction, out, account: result.shard_account };
}

function exitCodes({ transaction }: Ran): readonly (number | undefined)[] {
  const { value } = transaction.description;
  if (value.kind !== 'trans_ord') return [];
  const { compute_ph, action } = value;
  return [compute_ph.kind === 'tr_phase_compute_vm' ? compute_ph.exit_code : undefined, action?.value.result_code];
}

function batch(count: number): OutgoingMessage[] {
  return Array.from({ length: count }, (_, i) => ({
    message: buildInternalMessage({
      to,
      value: 1_000_000_000n + BigInt(i),
      body: commentBody(`number ${i}`),
      bounce: false,
    }),
  }));
}

const validUntil = NOW + 60;

/** The external-in message of a funded wallet. */
function transfer(wallet: FundedWallet, options: Partial<TransferOptions>): Cell {
  return createTransfer(wallet, { seqno: 0, validUntil, messages: batch(1), ...options });
}

describe.each(genesis.wallets.slice(1))('the funded wallet $version of the zerostate', (wallet) => {
  const count = wallet.version === 'v5r1' ? 255 : 4;

  it('sends what its owner signs, as much as it can at once', async () => {
    const messages = batch(count);
    const ran = await run(accountOf(wallet), transfer(wallet, { messages }));
    expect(exitCodes(ran)).toEqual([0, 0]);
    expect(ran.out.length).toBe(count);
    ran.out.forEach(({ info, ...rest }, i) => {
      if (info.kind !== 'int_msg_info') throw new TypeError(info.kind);
      expect(info.dest).toEqual(to);
      expect(info.value.grams).toBe(1_000_000_000n + BigInt(i));
      expect(toHex(messageBodyCell({ info, ...rest }).hash())).toBe(toHex(commentBody(`number ${i}`).hash()));
    });
  });

  it('takes each message once, and the next with the next seqno', async () => {
    const first = await run(accountOf(wallet), transfer(wallet, {}));
    await expect(run(first.account, transfer(wallet, {}))).rejects.toThrow(/not accepted/);
    const second = await run(first.account, transfer(wallet, { seqno: 1 }), 3_000_001n);
    expect(second.out.length).toBe(1);
  });

  it('refuses messages of others and those that come too late', async () => {
    const stranger = { ...wallet, seed: new Uint8Array(32).fill(5) };
    await expect(run(accountOf(wallet), transfer(stranger, {}))).rejects.toThrow(/not accepted/);
    await expect(run(accountOf(wallet), transfer(wallet, { validUntil: NOW - 1 }))).rejects.toThrow(/not accepted/);
  });
});

describe('the faucet', () => {
  const faucet = genesis.wallets[0]!;

  it('sends one message at once', async () => {
    const ran = await run(accountOf(faucet), transfer(faucet, {}));
    expect(exitCodes(ran)).toEqual([0, 0]);
    expect(ran.out.map(({ info }) => 'dest' in info && info.dest)).toEqual([to]);
  });

  it('sends 254 messages by way of one to itself', async () => {
    const ran = await run(accountOf(faucet), transfer(faucet, { messages: batch(254) }));
    expect(exitCodes(ran)).toEqual([0, 0]);
    expect(ran.out.map(({ info }) => 'dest' in info && info.dest)).toEqual([faucet.address]);
    const itself = ran.transaction.out_msgs.get(0)!.cell;
    const second = await run(ran.account, itself, 2_000_001n);
    expect(exitCodes(second)).toEqual([0, 0]);
    expect(second.out.length).toBe(254);
    expect(second.out.every(({ info }) => info.kind === 'int_msg_info' && info.value.grams >= 1_000_000_000n)).toBe(
      true,
    );
  });

  it('sends a message that deploys by way of one to itself, too', async () => {
    const { init, address } = walletContract({ version: 'v4r2', publicKey: new Uint8Array(32).fill(8) });
    const deploy = buildInternalMessage({ to: address, value: 1_000_000_000n, init });
    const ran = await run(accountOf(faucet), transfer(faucet, { messages: [{ message: deploy }] }));
    const second = await run(ran.account, ran.transaction.out_msgs.get(0)!.cell, 2_000_001n);
    expect(second.out.map(({ init: sent }) => sent !== null)).toEqual([true]);
    const third = await run(NONE, second.transaction.out_msgs.get(0)!.cell, 3_000_001n);
    expect(third.transaction.end_status).toBe('acc_state_active');
  });

  it('takes each query once, in any order, within an hour', async () => {
    let { account } = await run(accountOf(faucet), transfer(faucet, { seqno: 1023 }));
    ({ account } = await run(account, transfer(faucet, { seqno: 5 }), 3_000_001n));
    await expect(run(account, transfer(faucet, { seqno: 1023 }))).rejects.toThrow(/not accepted/);
    ({ account } = await run(account, transfer(faucet, { seqno: 1024, validUntil: NOW + 3600 }), 5_000_001n));
    await expect(run(account, transfer(faucet, { seqno: 6, validUntil: NOW + 3601 }))).rejects.toThrow(/not accepted/);
    await expect(run(account, transfer(faucet, { seqno: 6, validUntil: NOW }))).rejects.toThrow(/not accepted/);
  });
});

describe('a wallet that is not there yet', () => {
  it.each(['v3r2', 'v4r2', 'v5r1', 'highload-v3'] as const)(
    'is deployed with its first transfer: %s',
    async (version) => {
      const seed = new Uint8Array(32).fill(11);
      const wallet = { ...walletContract({ version, publicKey: signingKey(seed).publicKey }), seed };
      const messages = [
        { message: buildInternalMessage({ to: wallet.address, value: 5_000_000_000n, bounce: false }), mode: 1 },
      ];
      const sent = await run(accountOf(genesis.wallets[0]!), transfer(genesis.wallets[0]!, { messages }));
      const funded = await run(NONE, sent.transaction.out_msgs.get(0)!.cell, 2_000_001n);
      expect(funded.transaction.end_status).toBe('acc_state_uninit');
      const message = createTransfer(wallet, { seqno: 0, validUntil, messages: batch(1), init: wallet.init });
      const deployed = await run(funded.account, message, 3_000_001n);
      expect([deployed.transaction.end_status, deployed.out.length]).toEqual(['acc_state_active', 1]);
    },
  );
});
