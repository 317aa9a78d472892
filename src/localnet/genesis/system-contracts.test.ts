import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { configDictionary, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import { CONFIG_ACCOUNT, ELECTOR_ACCOUNT } from '#localnet/genesis/network-config.js';
import { buildExternalInMessage } from '#localnet/wallets/create-transfer.js';
import { signingKey } from '#localnet/wallets/wallet-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

const NOW = 1_800_000_000;
const TEN_YEARS = 10 * 365 * 86_400;
const genesis = makeGenesis({ now: NOW, randomBytes: (size) => new Uint8Array(size).fill(3) });
const state = decodeCell(ShardStateUnsplit, genesis.masterchain.state);
const config = state.custom!.value.config.config.root!;

let pool: TvmPool;
beforeAll(async () => {
  pool = await startTvm();
});
afterAll(() => pool.close());

function accountOf(id: Uint8Array): Cell {
  return encodeCell(ShardAccount, state.accounts.value.get(id)!);
}

function dataOf(account: Cell): Cell | null {
  const { value } = decodeCell(ShardAccount, account).account;
  const of = value.kind === 'account' ? value.storage.state : null;
  return of?.kind === 'account_active' ? of.state_init.data : null;
}

it.each([
  ['elector', ELECTOR_ACCOUNT, 'tick'],
  ['config contract', CONFIG_ACCOUNT, 'tock'],
] as const)('the %s runs in every block for years, for nothing, and sends nothing', async (_, id, which) => {
  let account = accountOf(id);
  let lt = 1_000_001n;
  for (const now of [NOW, NOW + 1, NOW + 65_536, NOW + 3 * 65_536, NOW + TEN_YEARS]) {
    const result = await pool.emulateTickTock({ shard_account: account, which, config, now, lt });
    if (!result.accepted) throw new Error(result.problem);
    const { description, outmsg_cnt, total_fees } = decodeCell(Transaction, result.transaction);
    const { value } = description;
    if (value.kind !== 'trans_tick_tock') throw new Error(value.kind);
    const { aborted, compute_ph } = value;
    expect([aborted, compute_ph.kind === 'tr_phase_compute_vm' && compute_ph.exit_code]).toEqual([false, 0]);
    expect([outmsg_cnt, total_fees.grams]).toEqual([0, 0n]);
    const before = dataOf(account)!;
    account = result.shard_account;
    if (now > NOW) expect(toHex(dataOf(account)!.hash())).toBe(toHex(before.hash()));
    lt += 1_000_000n;
  }
});

it('the config contract changes a parameter for who has the key', async () => {
  const value = encodeConfigParam(8, { version: 13, capabilities: 6n });
  const signed = new Builder()
    .storeUint(0x43665021, 32)
    .storeUint(0, 32)
    .storeUint(NOW + 60, 32)
    .storeInt(8, 32)
    .storeRef(value);
  const signature = signingKey(genesis.configSeed).sign(signed.endCell().hash());
  const message = buildExternalInMessage({
    to: Address.ofParts(-1, CONFIG_ACCOUNT),
    body: new Builder().storeBytes(signature).storeBuilder(signed).endCell(),
  });
  const result = await pool.emulateTransaction({
    shard_account: accountOf(CONFIG_ACCOUNT),
    message,
    config,
    now: NOW,
    lt: 1_000_001n,
  });
  if (!result.accepted) throw new Error(`${result.exit_code} ${result.problem}`);
  const changed = configDictionary(dataOf(result.shard_account)!.ref(0));
  expect(toHex(changed.get(8)!.hash())).toBe(toHex(value.hash()));
  expect(toHex(changed.delete(8).root!.hash())).toBe(toHex(configDictionary(config).delete(8).root!.hash()));
});
