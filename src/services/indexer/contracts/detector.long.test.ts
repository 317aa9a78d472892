import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { systemClock } from '#kernel/clock.js';
import { chainErrors } from '#services/chain/errors.js';
import { DetectLoop } from '#services/indexer/contracts/detector.js';
import { restartDerivation } from '#services/indexer/derivations/derivation-progress.js';
import { otherAccounts, recordedAccounts, resolveRecordedLibrary } from '#test/support/contract-accounts.js';
import { ContractIndex } from '#test/support/contract-index.js';
import { largeCell, masterCode, masterData, walletCode, walletData } from '#test/support/fake-tokens.js';
import { startTvm } from '#test/support/tvm-pool.js';

const at = (n: number) => Address.ofParts(0, new Uint8Array(32).fill(n));
const OWNER = at(1);
const MASTER = at(2);
const WALLET = at(3);
const EMPTY = new Builder().endCell();

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

const master = (lt: number, vouchedFor = WALLET, salt = 0) => ({
  address: MASTER,
  code: masterCode('kept', salt),
  data: masterData(OWNER, EMPTY, vouchedFor),
  lt,
});
const wallet = (lt: number, balance = 5, address = WALLET) => ({
  address,
  code: walletCode('plain'),
  data: walletData(OWNER, MASTER, EMPTY, balance),
  lt,
});

const walletRow = (address = WALLET) =>
  index.row<{ balance: bigint; lapsed: string | null }>(
    'SELECT balance, lapsed FROM jetton_wallets WHERE address = $1',
    address,
  );
const refusalOf = async (address: Address) =>
  (await index.row<{ refused: object }>('SELECT refused FROM contracts WHERE address = $1', address))?.refused;

describe('a contract', () => {
  it('is reported when the contract that it names agrees', async () => {
    await index.put(master(10), wallet(20));
    expect(await index.look()).toMatchObject({ detected: 2, refused: {}, postponed: 0 });
    expect(await walletRow()).toEqual({ balance: 5n, lapsed: null });
    expect(await index.count('jetton_masters')).toBe(1);
    expect(await index.count('contract_queue')).toBe(0);
    const before = await index.client.query('SELECT contract_changes FROM index_state');
    await index.put(wallet(30, 7));
    await index.look();
    expect(await walletRow()).toEqual({ balance: 7n, lapsed: null });
    const after = await index.client.query('SELECT contract_changes FROM index_state');
    expect(after.rows[0].contract_changes).toBeGreaterThan(before.rows[0].contract_changes);
  });

  it('that is a fake enters no table, and is counted under its reason', async () => {
    const huge = largeCell(100_000);
    const NOW = 1_750_000_123;
    const atNow = Address.ofParts(0, Buffer.from(NOW.toString(16).padStart(64, '0'), 'hex'));
    const [UNSTEADY, ENDLESS] = [at(40), at(41)];
    const named = (jetton: Address, code = EMPTY) => walletData(OWNER, jetton, code);
    await index.put(
      master(10),
      { address: UNSTEADY, code: masterCode('now'), data: masterData(OWNER, EMPTY, at(9)), lt: 10 },
      { address: ENDLESS, code: masterCode('endless'), data: masterData(OWNER, EMPTY, at(9)), lt: 10 },
      { ...wallet(20), address: at(10) },
      { address: at(11), code: walletCode('plain'), data: named(at(99)), lt: 20 },
      { address: atNow, code: walletCode('plain'), data: named(UNSTEADY), lt: 20, utime: NOW },
      { address: at(12), code: walletCode('plain'), data: named(ENDLESS), lt: 20 },
      { address: at(13), code: walletCode('endless'), data: named(MASTER), lt: 20 },
      { address: WALLET, code: walletCode('plain'), data: named(MASTER, huge), lt: 20 },
      { address: at(14), code: walletCode('throwing'), data: named(MASTER), lt: 20 },
      { address: at(15), code: walletCode('malformed'), data: named(MASTER), lt: 20 },
    );
    const { refused, detected: looked } = await index.look();
    expect(looked).toBe(11);
    expect(refused).toEqual({
      'jetton_wallet not-verified': 2,
      'jetton_wallet unsteady': 1,
      'jetton_wallet out-of-gas': 2,
      'jetton_wallet too-large': 1,
      'jetton_wallet threw': 1,
      'jetton_wallet malformed': 1,
    });
    expect(await index.count('jetton_wallets')).toBe(0);
    expect(await index.count('jetton_masters')).toBe(3);
    expect(await refusalOf(at(10))).toEqual({ jetton_wallet: 'not-verified' });
    expect(await refusalOf(atNow)).toEqual({ jetton_wallet: 'unsteady' });
    expect(await refusalOf(at(13))).toEqual({ jetton_wallet: 'out-of-gas' });
    expect(await refusalOf(WALLET)).toEqual({ jetton_wallet: 'too-large' });
  });

  it('of known code that stands elsewhere than whom it names says is refused', async () => {
    index.chain.library = async (hash) => {
      const [cell] = await resolveRecordedLibrary([hash]);
      return cell == null ? null : serializeBoc(cell);
    };
    const recorded = new Map([...recordedAccounts, ...otherAccounts].map((each) => [each.address.toRaw(), each]));
    const all = [...recorded.values()].map((each) => ({ ...each, lt: 10, mc_seqno: 1 }));
    const copied = all.filter(({ kind }) => /^(jetton_wallet|nft_item|dns_item|multisig_order)/.test(kind));
    const elsewhere = copied.map((each, i) => ({ ...each, address: at(100 + i) }));
    await index.put(...all, ...elsewhere);
    const { refused } = await index.look();
    const tables = ['jetton_wallets', 'nft_items', 'multisig_orders', 'dns_items'];
    for (const table of tables) {
      expect(await index.count(`${table} WHERE lapsed IS NULL`), table).toBeGreaterThan(0);
      for (const { address } of elsewhere) {
        expect(await index.row(`SELECT * FROM ${table} WHERE address = $1`, address), table).toBeUndefined();
      }
    }
    for (const kind of ['jetton_wallet', 'nft_item', 'multisig_order']) {
      expect(refused[`${kind} not-verified`], kind).toBeGreaterThan(0);
    }
    expect(index.postponed).toEqual([]);
  });

  it('that cannot be read now is read again later', async () => {
    const { config } = index.chain;
    index.chain.config = async () => {
      throw chainErrors.deadline({ ms: 1 });
    };
    await index.put(master(10), wallet(20));
    expect(await index.look()).toMatchObject({ detected: 2, postponed: 2, refused: {} });
    expect(index.postponed).toEqual(['chain/deadline', 'chain/deadline']);
    expect(await index.count('contracts')).toBe(0);
    index.chain.config = config;
    expect((await index.look()).detected).toBe(0);
    index.now += 2;
    expect((await index.look()).detected).toBe(2);
    expect(await walletRow()).toEqual({ balance: 5n, lapsed: null });
    // Each time it takes longer, but for one that has changed meanwhile.
    index.chain.config = async () => {
      throw chainErrors.deadline({ ms: 1 });
    };
    await index.client.query('UPDATE contract_queue SET attempts = 0');
    await index.put(wallet(30, 8));
    for (const seconds of [0, 2, 4, 8]) {
      index.now += seconds;
      // Configurations that are kept need not be asked for.
      await index.look();
    }
    expect(await walletRow()).toEqual({ balance: 8n, lapsed: null });
  });
});

describe('the rows of a contract', () => {
  it('follow what becomes of it', async () => {
    await index.put(master(10), wallet(20));
    await index.look();
    // Another code, which answers otherwise.
    await index.put({ ...wallet(30), code: walletCode('throwing') });
    expect((await index.look()).refused).toEqual({ 'jetton_wallet threw': 1 });
    expect(await walletRow()).toEqual({ balance: 5n, lapsed: 'changed' });
    await index.put(wallet(40, 6));
    await index.look();
    expect(await walletRow()).toEqual({ balance: 6n, lapsed: null });
    // It is destroyed and comes again.
    await index.put({ address: WALLET, code: null, lt: 50 });
    expect((await index.look()).detected).toBe(1);
    expect(await walletRow()).toEqual({ balance: 6n, lapsed: 'destroyed' });
    await index.put(wallet(60, 1));
    await index.look();
    expect(await walletRow()).toEqual({ balance: 1n, lapsed: null });
    // Another owner.
    const data = walletData(at(77), MASTER, EMPTY, 1);
    await index.put({ address: WALLET, code: walletCode('plain'), data, lt: 70 });
    await index.look();
    const { owner } = (await index.row<{ owner: Uint8Array }>(
      'SELECT owner FROM jetton_wallets WHERE address = $1',
      WALLET,
    ))!;
    expect([...owner]).toEqual([0, ...at(77).hash]);
    // A wallet like all, that was never a contract, is not even looked at.
    expect(await index.count('contract_queue')).toBe(0);
  });

  it('follow what becomes of whom it names', async () => {
    // The wallet is there first.
    await index.put(wallet(10));
    expect((await index.look()).refused).toEqual({ 'jetton_wallet not-verified': 1 });
    await index.put(master(20));
    await index.look();
    // Those that it refused come at once, all others bit by bit.
    expect(await walletRow()).toEqual({ balance: 5n, lapsed: null });
    expect(await index.count('changed_contracts')).toBe(1);
    await lookAtAll();
    expect(await walletRow()).toEqual({ balance: 5n, lapsed: null });
    // The master disowns it with new code.
    await index.put(master(30, at(9), 1));
    await lookAtAll();
    expect(await walletRow()).toEqual({ balance: 5n, lapsed: 'refused' });
    await index.put(master(40, WALLET, 2));
    await lookAtAll();
    expect(await walletRow()).toEqual({ balance: 5n, lapsed: null });
    // The master goes.
    await index.put({ address: MASTER, code: null, lt: 50 });
    await lookAtAll();
    expect(await walletRow()).toEqual({ balance: 5n, lapsed: 'refused' });
    expect(await index.count('changed_contracts')).toBe(0);
  });

  it('are read again on demand, and go on where that was ended', async () => {
    const wallets = Array.from({ length: 40 }, (_, i) => ({ ...wallet(20), address: at(100 + i) }));
    await index.put(master(10, at(100)), ...wallets);
    await lookAtAll();
    expect(await walletRow(at(100))).toEqual({ balance: 5n, lapsed: null });
    // As an index that was made before anybody looked.
    await index.client.query('TRUNCATE jetton_wallets, jetton_masters, contracts, contract_references, derivations');
    await lookAtAll();
    expect(await walletRow(at(100))).toEqual({ balance: 5n, lapsed: null });
    expect(await index.count('contracts')).toBe(41);
    await index.client.query(`UPDATE jetton_wallets SET balance = 0`);
    await index.database.transaction((client) => restartDerivation(client, 'contracts'));
    // Ended in the middle of it: the second half is left.
    await index.client.query('UPDATE derivations SET position = $1 WHERE name = $2', [
      Buffer.from([0, ...at(99).hash]),
      'contracts',
    ]);
    await index.database.transaction((client) => restartDerivation(client, 'contracts'));
    await lookAtAll();
    expect(await walletRow(at(100))).toEqual({ balance: 5n, lapsed: null });
    const { rows } = await index.client.query(`SELECT position FROM derivations WHERE name = 'contracts'`);
    expect(rows).toEqual([{ position: null }]);
  });
});

/** As the thread does it: until nothing is left. */
async function lookAtAll(): Promise<void> {
  const { database, detector } = index;
  await new Promise<void>((resolve, reject) => {
    const loop = new DetectLoop({
      ...{ database, detector, past: index.past, clock: systemClock, unixTime: () => index.now, pollMs: 1_000 },
      onDetected: () => {},
      onQueued: () => {},
      onIdle: () => {
        loop.stop();
        resolve();
      },
      onTrouble: reject,
    });
    void loop.run();
  });
}
