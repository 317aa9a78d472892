import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { ExternalMessagePool } from '#localnet/node/external-messages.js';
import type { ExternalInOutcome, PendingExternalIn, ProducedBundle } from '#localnet/producer/block-request.js';
import { buildExternalInMessage } from '#localnet/wallets/create-transfer.js';
import { FULL } from '#test/support/full-depth.js';
import { ProducerChain } from '#test/support/producer-chain.js';
import { codeOf } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

const COIN = 1_000_000_000n;

/** A block of a busy network is this long at most: as `tern dev` sets it at 400 ms. */
const BUDGET_MS = 300;

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm({ workers: 1 });
});
afterAll(() => pool.close());

/**
 * Sends itself a message with n - 1 and all its coins, until n is 0: `DROP; 32 LDU; DROP; DUP; IFNOTRET; DEC; 24 PUSHINT; NEWC;
 * 6 STU; MYADDR; SWAP; STSLICE; 0 PUSHINT; SWAP; 111 STU; 32 STU; ENDC; 64 PUSHINT; SENDRAWMSG`.
 */
const countdown = codeOf('30d31f3020dda5 8018 c8 cb05 f828 01 ce 70 01 cb6e cb1f c9 8040 fb00'.replaceAll(' ', ''));
/** Accepts every external-in message: `ACCEPT`. */
const acceptor = codeOf('f800');
const counter = Address.ofParts(0, new Uint8Array(32).fill(0xc0));

const body = (count: number): Cell => new Builder().storeUint(count, 32).endCell();

/** Transactions of the shards in a bundle, by account, in their order. */
function transactionsOf({ bundle }: ProducedBundle, account: Address): number {
  let count = 0;
  for (const { root } of bundle.shards) {
    const blocks = decodeCell(Block, root).extra.value.account_blocks.value;
    count += blocks.get(account.hash)?.transactions.count() ?? 0;
  }
  return count;
}

async function withCounter(): Promise<ProducerChain> {
  const chain = new ProducerChain(pool);
  await chain.round();
  await chain.round({
    overrides: [{ kind: 'account', address: counter, change: { balance: COIN, code: countdown, data: EMPTY_CELL } }],
  });
  return chain;
}

const deadline = () => {
  const end = performance.now() + BUDGET_MS;
  return () => performance.now() >= end;
};

describe('large traces', () => {
  it.each([
    [1, FULL ? 10_000 : 1_500],
    [255, FULL ? 8 : 3],
  ])('%i chains of %i messages are produced and valid', async (chains, length) => {
    const chain = await withCounter();
    const messages = Array.from({ length: chains }, () => ({
      to: counter,
      value: (chains === 1 ? 2_000n : 10n) * COIN,
      body: body(length),
    }));
    const transfer = chain.transfer(chain.wallet('v5r1'), ...messages);
    let count = 0;
    let externals: readonly PendingExternalIn[] = [transfer];
    for (let bundles = 0; count < chains * (length + 1) && bundles < 3_000; bundles++) {
      const produced = await chain.round({ externals, full: deadline() });
      if (produced.externals.length > 0) externals = [];
      count += transactionsOf(produced, counter);
    }
    expect(count).toBe(chains * (length + 1));
  });

  it('255 actions of one transaction arrive', async () => {
    const chain = await withCounter();
    const receivers = Array.from({ length: 255 }, (_, i) => Address.ofParts(0, new Uint8Array(32).fill(i + 1)));
    const before = receivers.map((to) => chain.balance(to) ?? 0n);
    const transfer = chain.transfer(
      chain.wallet('v5r1'),
      ...receivers.map((to) => ({ to, value: COIN, bounce: false })),
    );
    const { externals } = await chain.round({ externals: [transfer], full: deadline() });
    expect(externals.map(({ kind }) => kind)).toEqual(['included']);
    await chain.settle();
    const got = receivers.map((to, i) => (chain.balance(to) ?? 0n) - before[i]!);
    expect(got.filter((each) => each < COIN - 10_000_000n)).toEqual([]);
  });
});

/** External-in messages that a node keeps at once. */
const MOST_WAITING = 16_384;

describe('thousands of external-in messages at once', () => {
  const ACCOUNTS = 100;
  const EACH = FULL ? 200 : 20;

  it('of many accounts: none that was accepted is lost, and each account processes its own in their order', async () => {
    const chain = await withCounter();
    const accounts = Array.from({ length: ACCOUNTS }, (_, i) => Address.ofParts(0, new Uint8Array(32).fill(i + 1)));
    await chain.round({
      overrides: accounts.map((address) => ({
        ...{ kind: 'account', address },
        change: { balance: 1_000n * COIN, code: acceptor, data: EMPTY_CELL },
      })),
    });
    const waiting = new ExternalMessagePool(systemClock);
    const accepted: PendingExternalIn[] = [];
    let refused = 0;
    for (let i = 0; i < EACH; i++)
      for (const dest of accounts) {
        const message = { message: buildExternalInMessage({ to: dest, body: body(i) }), dest };
        try {
          waiting.add(message);
          accepted.push(message);
        } catch {
          refused++;
        }
      }
    const kept = Math.min(ACCOUNTS * EACH, MOST_WAITING);
    expect([accepted.length, refused, waiting.size]).toEqual([kept, ACCOUNTS * EACH - kept, kept]);

    const order = new Map<string, string[]>();
    const outcomes: ExternalInOutcome[] = [];
    for (let bundles = 0; waiting.size > 0; bundles++) {
      expect(bundles).toBeLessThan(1_000);
      const produced = await chain.round({ externals: waiting.messages(), full: deadline() });
      waiting.settle(produced.externals);
      outcomes.push(...produced.externals);
      for (const { root } of produced.bundle.shards) noteOrder(root, order);
    }
    expect(outcomes.filter(({ kind }) => kind !== 'included')).toEqual([]);
    expect(outcomes).toHaveLength(accepted.length);
    for (const address of accounts) {
      const own = accepted.filter(({ dest }) => dest === address).map(({ message }) => toHex(message.hash()));
      expect(order.get(address.toRaw()), address.toRaw()).toEqual(own);
    }
  });
});

/** Appends the external-in messages of a block to those of their accounts, in the order of lt. */
function noteOrder(root: Cell, order: Map<string, string[]>): void {
  for (const [id, { transactions }] of decodeCell(Block, root).extra.value.account_blocks.value) {
    const account = Address.ofParts(0, id).toRaw();
    for (const [, { value }] of transactions) {
      const message = value.in_msg;
      if (message === null || message.value.info.kind !== 'ext_in_msg_info') continue;
      const own = order.get(account) ?? [];
      own.push(toHex(message.cell.hash()));
      order.set(account, own);
    }
  }
}
