import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addressBytes } from '#drivers/store/keys.js';
import { writeClassificationWaits } from '#drivers/store/write/actions.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import {
  forgetUnavailablePast,
  pastKey,
  readPastFacts,
  wantPastContracts,
} from '#drivers/store/write/past-contracts.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account, stateInitOf } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { chainErrors } from '#services/chain/errors.js';
import { ContractIndex } from '#test/support/contract-index.js';
import { masterCode, masterData, walletCode, walletData } from '#test/support/fake-tokens.js';
import { startTvm } from '#test/support/tvm-pool.js';

const at = (n: number) => Address.ofParts(0, new Uint8Array(32).fill(n));
const [OWNER, MASTER, WALLET] = [at(1), at(2), at(3)];
const EMPTY = new Builder().endCell();
const ROOT = 77n;

/** Sessions that wait for a lock. */
const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let tvm: TvmPool;
let index: ContractIndex;
beforeAll(async () => {
  tvm = await startTvm({ workers: 1 });
});
afterAll(() => tvm.close());
beforeEach(async () => {
  index = await ContractIndex.open(tvm);
  await index.put({ address: MASTER, code: masterCode('kept', 0), data: masterData(OWNER, EMPTY, WALLET), lt: 10 });
  await index.look();
});
afterEach(() => index.close());

/** `Account` of a jetton wallet, as a BoC. */
function walletAccount(): Uint8Array {
  const code: Cell = walletCode('plain');
  const account: Account = {
    kind: 'account',
    addr: WALLET,
    storage_stat: {
      used: { cells: 1n, bits: 1n },
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: 0,
      due_payment: null,
    },
    storage: {
      last_trans_lt: 20n,
      balance: onlyGrams(7n),
      state: { kind: 'account_active', state_init: stateInitOf(code, walletData(OWNER, MASTER, EMPTY, 5)) },
    },
  };
  return serializeBoc(encodeCell(Account, account));
}

const PAST = { address: WALLET, mc_seqno: 5 };

/** A trace waits for the wallet as of block 5. */
async function want(): Promise<void> {
  await index.database.transaction(async (client) => {
    await wantPastContracts(client, [PAST, PAST]);
    await writeClassificationWaits(client, [{ root: ROOT, address: addressBytes(WALLET) }]);
  });
  expect(await index.count('classification_queue')).toBe(0);
}

const known = async () => (await readPastFacts(index.client, [PAST])).get(pastKey(PAST));

describe('a contract after an earlier block', () => {
  it('is read with proof, detected and kept; the traces that wait for it are classified again', async () => {
    const asked: number[] = [];
    index.chain.accountAt = async (address, mc_seqno) => {
      asked.push(mc_seqno);
      const place = { last_trans_lt: 20n, last_trans_hash: new Uint8Array(32), mc_seqno, gen_utime: 1_750_000_000 };
      return address[32] === 3 ? { boc: walletAccount(), ...place } : null;
    };
    await want();
    expect(await index.past.next()).toMatchObject({ detected: 1, postponed: 0 });
    expect(await known()).toMatchObject({
      outcome: 'read',
      contract: { jetton_wallet: { owner: OWNER, jetton: MASTER }, nft_item: null, nft_sale: null },
    });
    const { rows } = await index.client.query('SELECT root FROM classification_queue');
    expect(rows).toEqual([{ root: ROOT }]);
    // It is asked for once; tables of contracts say what is now.
    await index.database.transaction((client) => wantPastContracts(client, [PAST]));
    expect(await index.past.next()).toBeNull();
    expect([asked, await index.count('jetton_wallets')]).toEqual([[5], 0]);
  });

  it('is written while the trace that waits for it is classified again', async () => {
    index.chain.accountAt = async () => null;
    await want();
    const { client } = index;
    await client.query('BEGIN');
    await lockEvents(client);
    await client.query('DELETE FROM classification_waits');
    const read = index.past.next();
    read.catch(() => {});
    await expect.poll(() => index.database.query({ text: WAITING })).toHaveLength(1);
    await writeClassificationWaits(client, [{ root: ROOT, address: addressBytes(WALLET) }]);
    await client.query('COMMIT');
    expect(await read).toMatchObject({ detected: 1 });
    expect(await known()).toEqual({ outcome: 'read', contract: null });
  });

  it('may not have existed', async () => {
    index.chain.accountAt = async () => null;
    await want();
    await index.past.next();
    expect(await known()).toEqual({ outcome: 'read', contract: null });
  });

  it('is left at what is known now when no server has the state, and asked for again when actions are derived again', async () => {
    await want();
    expect(await index.past.next()).toMatchObject({ detected: 1 });
    expect(await known()).toEqual({ outcome: 'unavailable', contract: null });
    await forgetUnavailablePast(index.client);
    expect(await known()).toBeUndefined();
  });

  it('is read later when servers fail', async () => {
    index.chain.accountAt = async () => {
      throw chainErrors.aborted({});
    };
    await want();
    expect(await index.past.next()).toMatchObject({ detected: 0, postponed: 1 });
    expect(await index.past.next()).toBeNull();
    expect(await known()).toEqual({ outcome: 'wanted', contract: null });
    expect(await index.count('classification_queue')).toBe(0);
    index.now += 10;
    index.chain.accountAt = async () => null;
    expect(await index.past.next()).toMatchObject({ detected: 1 });
  });
});
