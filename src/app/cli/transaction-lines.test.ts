import { afterAll, beforeAll, expect, it } from 'vitest';
import { transactionLines } from '#app/cli/transaction-lines.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { producedTransactions } from '#localnet/node/produced-transactions.js';
import type { BlockRequest } from '#localnet/producer/block-request.js';
import { ProducerChain } from '#test/support/producer-chain.js';
import { codeOf } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm({ workers: 1 });
});
afterAll(() => pool.close());

const COIN = 1_000_000_000n;
const account = (digit: number) => Address.ofParts(0, new Uint8Array(32).fill(digit));
const short = (address: Address) => address.toFriendly({ bounceable: false }).replace(/^(.{6}).*(.{4})$/, '$1…$2');
const comment = (text: string): Cell =>
  new Builder().storeUint(0, 32).storeBytes(new TextEncoder().encode(text)).endCell();

/** Lines of the blocks until no message is left. */
async function linesOf(chain: ProducerChain, request: Partial<BlockRequest>): Promise<string[]> {
  const lines: string[] = [];
  for (let blocks = 0; blocks < 4; blocks++) {
    const produced = producedTransactions(await chain.round(blocks === 0 ? request : {}));
    if (produced !== null) lines.push(...transactionLines(produced).map((line) => line.replace(/^\d+ {2}/, '')));
  }
  return lines;
}

it('says who sent what to whom, what it cost, and why it failed', async () => {
  const chain = new ProducerChain(pool);
  expect(producedTransactions(await chain.round())).toBeNull();
  const thrower = account(0xcc);
  await chain.round({
    overrides: [
      // `42 THROW`
      { kind: 'account', address: thrower, change: { balance: COIN, code: codeOf('f22a'), data: EMPTY_CELL } },
    ],
  });
  const wallet = chain.wallet('v5r1');
  const transfer = chain.transfer(
    wallet,
    { to: account(1), value: 2_500_000_000n, bounce: false, body: comment('hello\n\u001b[31m') },
    { to: thrower, value: COIN, body: new Builder().storeUint(0x0f8a7ea5, 32).endCell() },
  );
  const lines = await linesOf(chain, { externals: [transfer] });
  const fees = expect.stringMatching(/ {2}fees 0\.\d+/);
  const from = short(wallet.address);
  expect(lines).toHaveLength(4);
  expect(lines).toEqual([fees, expect.stringMatching(/ {2}fees 0$/), fees, expect.stringContaining('  bounced')]);
  expect(lines[0]).toContain(`external → ${from}`);
  expect(lines[1]).toContain(`${from} → ${short(account(1))}  2.5 TON  "hello\\n\\u001b[31m"`);
  expect(lines[2]).toContain(`${from} → ${short(thrower)}  1 TON  jetton_transfer`);
  expect(lines[2]).toMatch(/failed: The contract ended with exit code 42: a contract-specific code/);
});

it('takes no signature for an opcode', async () => {
  const chain = new ProducerChain(pool);
  await chain.round();
  // Its messages begin with the signature.
  const wallet = chain.wallet('v4r2');
  const opcode = { to: account(2), value: COIN, bounce: false, body: new Builder().storeUint(0xb1e, 32).endCell() };
  const [external, internal] = await linesOf(chain, { externals: [chain.transfer(wallet, opcode)] });
  expect(external).toMatch(new RegExp(`^external → ${short(wallet.address)} {2}fees 0\\.\\d+$`));
  expect(internal).toContain('  1 TON  0x00000b1e  ');
});

it('is bounded for a block with many transactions', async () => {
  const chain = new ProducerChain(pool);
  await chain.round();
  const wallet = chain.wallet('v5r1');
  const receivers = Array.from({ length: 200 }, (_, i) => ({ to: account(i + 1), value: COIN, bounce: false }));
  const lines = await linesOf(chain, { externals: [chain.transfer(wallet, ...receivers)] });
  expect(lines.length).toBeLessThan(50);
  expect(lines.some((line) => /^and \d+ more transactions$/.test(line))).toBe(true);
});
