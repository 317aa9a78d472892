import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import { addressBytes } from '#drivers/store/keys.js';
import { completeAccount, deleteAbsentAccounts } from '#drivers/store/write/accounts.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { ContractIndex } from '#test/support/contract-index.js';
import { masterCode, masterData } from '#test/support/fake-tokens.js';
import { startTvm } from '#test/support/tvm-pool.js';

const at = (n: number) => Address.ofParts(0, new Uint8Array(32).fill(n));
const MASTER = at(2);
const CODE = masterCode('kept', 0);
const DATA = masterData(at(1), new Builder().endCell(), at(3));
const EVERYWHERE = { after: new Uint8Array(), last: new Uint8Array(37).fill(255) };

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
});
afterEach(() => index.close());

const put = (lt: number, mc_seqno = lt) => index.put({ address: MASTER, code: CODE, data: DATA, lt, mc_seqno });

/** What happens between the reads of a detection and its writes. @param change in a transaction with the lock of the batches */
async function meanwhile(change: () => Promise<void>): Promise<void> {
  const { client, database, detector } = index;
  await client.query('BEGIN');
  await lockTraces(client);
  const detected = detector.next(false);
  detected.catch(() => {});
  await expect.poll(() => database.query({ text: WAITING })).toHaveLength(1);
  await change();
  await client.query('COMMIT');
  await detected;
}

const queued = async () =>
  (await index.client.query('SELECT last_trans_lt, mc_seqno FROM contract_queue')).rows as readonly object[];

describe('an entry of the queue', () => {
  it('goes when an import has deleted its account since', async () => {
    await put(20);
    const { client } = index;
    await client.query('BEGIN');
    await deleteAbsentAccounts(client, { ...EVERYWHERE, mc_seqno: 100, gen_utime: 1 }, WALLET_CODE_HASHES);
    await client.query('COMMIT');
    expect(await queued()).toEqual([{ last_trans_lt: 20n, mc_seqno: 20 }]);
    expect(await index.detector.next(false)).toMatchObject({ detected: 1 });
    expect(await index.detector.next(false)).toBeNull();
  });

  it('stays when an older block shows meanwhile that the account has had its state since before', async () => {
    await put(20);
    await meanwhile(async () => {
      await index.client.query('UPDATE accounts SET mc_seqno = 15');
      await index.client.query('UPDATE contract_queue SET mc_seqno = 15');
    });
    expect(await queued()).toEqual([{ last_trans_lt: 20n, mc_seqno: 15 }]);
    await index.look();
    expect(await queued()).toEqual([]);
  });

  it('stays when that block shows it of a newer state than that of the entry', async () => {
    await put(30);
    await index.client.query('UPDATE contract_queue SET last_trans_lt = 20, mc_seqno = 20');
    await meanwhile(async () => {
      await index.client.query('UPDATE accounts SET mc_seqno = 25');
      await index.client.query('UPDATE contract_queue SET last_trans_lt = 30, mc_seqno = 25');
    });
    expect(await queued()).toEqual([{ last_trans_lt: 30n, mc_seqno: 25 }]);
    await index.look();
    expect(await queued()).toEqual([]);
  });

  it('stays when its state, which was incomplete, is completed meanwhile', async () => {
    await put(30);
    const { client } = index;
    await client.query('UPDATE accounts SET incomplete = true, data_boc = NULL');
    await client.query('UPDATE contract_queue SET last_trans_lt = 20, mc_seqno = 20');
    await meanwhile(() =>
      completeAccount(
        client,
        {
          ...{ address: addressBytes(MASTER), state_hash: new Uint8Array(32).fill(30) },
          ...{ data_boc: serializeBoc(DATA), extra_currencies: null, code: null },
        },
        WALLET_CODE_HASHES,
      ),
    );
    expect(await queued()).toEqual([{ last_trans_lt: 30n, mc_seqno: 30 }]);
    await index.look();
    expect(await index.count('jetton_masters')).toBe(1);
    expect(await queued()).toEqual([]);
  });

  it('goes when its state is incomplete', async () => {
    await put(30);
    await index.client.query('UPDATE accounts SET incomplete = true, data_boc = NULL');
    await index.look();
    expect(await queued()).toEqual([]);
  });
});
