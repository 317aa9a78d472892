import { expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Message, messageBodyCell } from '#formats/tlb/message.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import { Faucet } from '#localnet/node/faucet.js';
import { fundedWallets } from '#localnet/wallets/wallet-contract.js';
import { withPool } from '#test/support/tvm-pool.js';

const NOW = 1_700_000_000;
const to = Address.ofParts(0, new Uint8Array(32).fill(7));

/** In the cell behind the signature: subwallet_id (32 bits), a reference, mode (8 bits), query_id (23 bits). */
function queryOf(message: Cell): number {
  const signed = openCell(messageBodyCell(decodeCell(Message, message)).ref(0));
  signed.loadUint(32);
  signed.loadUint(8);
  return signed.loadUint(23);
}

it('sends each transfer under a number of its own, a thousand in a second', () => {
  let now = NOW;
  const faucet = new Faucet(fundedWallets()[0]!, { now: () => now, random: () => 0.999 });
  const hashes = new Set<string>();
  for (let sent = 0; sent < 1_023; sent++) {
    const { message, dest } = faucet.transfer(to, 1n, null);
    expect(dest).toBe(faucet.address);
    hashes.add(toHex(message.hash()));
  }
  expect(hashes.size).toBe(1_023);
  now += 1;
  hashes.add(toHex(faucet.transfer(to, 1n, null).message.hash()));
  expect(hashes.size).toBe(1_024);
});

it('uses no number twice while the time stands still, and the wallet accepts them', async () => {
  const [wallet] = fundedWallets();
  const genesis = makeGenesis({ now: NOW, randomBytes: (size) => new Uint8Array(size).fill(3) });
  const [masterchain, basechain] = [genesis.masterchain, ...genesis.workchains].map(({ state }) =>
    decodeCell(ShardStateUnsplit, state),
  );
  const config = masterchain!.custom!.value.config.config.root!;
  let shard_account = encodeCell(ShardAccount, basechain!.accounts.value.get(wallet!.address.hash)!);
  let now = NOW;
  const faucet = new Faucet(wallet!, { now: () => now, random: () => 0.5 });
  const queries = new Set<number>();
  await withPool({ workers: 1 }, async (pool) => {
    for (let sent = 1; sent <= 1_060; sent++) {
      // The faucet has gone on to the query ids of this second.
      if (sent === 1_050) now++;
      const { message } = faucet.transfer(to, 1n, null);
      queries.add(queryOf(message));
      if (sent > 5 && sent < 1_020) continue;
      const lt = BigInt(sent) * 1_000_000n;
      const result = await pool.emulateTransaction({ shard_account, message, config, now, lt });
      expect(result.accepted, `transfer ${sent}`).toBe(true);
      if (result.accepted) shard_account = result.shard_account;
    }
  });
  expect(queries.size).toBe(1_060);
});
