import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeMethods } from '#domain/contracts/code-methods.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { setCodeMethods } from '#drivers/store/write/accounts.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { codeMethodsDerivation } from '#services/indexer/derivations/registered.js';
import { DerivationRunner } from '#services/indexer/derivations/run-derivations.js';
import { Retries } from '#services/indexer/retries.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

let own: TestDatabase;
let client: pg.Client;
let database: Database;
beforeAll(async () => {
  own = await testDatabase();
  client = await own.connect();
  database = await Database.open({ url: own.url, writeConnections: 1 }, { clock: systemClock });
  const hash = new Uint8Array(32);
  const retries = new Retries(systemClock, silentLogger);
  reader = new DerivationRunner(
    { derivations: [codeMethodsDerivation], partition_rounds: 100 },
    { database, retries, clock, unixTimeMs: Date.now },
  );
  await openIndex(client, { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} }, 100);
});
afterAll(async () => {
  await database?.close();
  await own?.close();
});

const signal = new AbortController().signal;
const clock = new FakeClock();
let reader: DerivationRunner;

/** As an index has them that was made before. */
async function addUnread(codes: Iterable<Cell>): Promise<void> {
  for (const code of codes) {
    await client.query('INSERT INTO codes (code_hash, boc) VALUES ($1, $2)', [code.hash(), serializeBoc(code)]);
  }
}

async function stored() {
  const { rows } = await client.query<{ code_hash: Uint8Array; methods: number[] | null; methods_read: boolean }>(
    'SELECT code_hash, methods, methods_read FROM codes',
  );
  return new Map(rows.map(({ code_hash, methods, methods_read }) => [toHex(code_hash), [methods_read, methods]]));
}

const changes = async () =>
  Number((await client.query('SELECT contract_changes FROM index_state')).rows[0].contract_changes);

describe('codes of an older index', () => {
  // More than one page; those that are there twice have one row.
  const codes = new Map<string, Cell>();
  for (const { code } of recordedAccounts) codes.set(toHex(code.hash()), code);
  for (let i = 0; codes.size < 230; i++) {
    const code = new Builder().storeUint(0xff00, 16).storeUint(i, 32).endCell();
    codes.set(toHex(code.hash()), code);
  }

  it('get their methods, but for libraries that are not known', async () => {
    const whole = [...codes.values()].filter((code) => libraryHashOf(code) === null);
    expect(whole.filter((code) => codeMethods(code) !== null).length).toBeGreaterThan(20);
    const library = whole.find((code) => codeMethods(code) !== null)!;
    const reference = new Builder().storeUint(2, 8).storeBytes(library.hash()).endExotic();
    const others = [...codes.values()].filter((code) => code !== library);
    await addUnread([...others, reference]);
    await reader.run(signal);
    const first = await stored();
    for (const code of whole) {
      if (code !== library) expect(first.get(toHex(code.hash()))).toEqual([true, codeMethods(code)]);
    }
    expect(first.get(toHex(reference.hash()))).toEqual([false, null]);
    const before = await changes();
    expect(before).toBeGreaterThan(1);

    // It becomes known as the code of a contract.
    await addUnread([library]);
    await reader.run(signal);
    expect((await stored()).get(toHex(library.hash())), 'soon after, nothing is done').toEqual([false, null]);
    clock.advance(60_001);
    await reader.run(signal);
    const then = await stored();
    expect(then.get(toHex(reference.hash()))).toEqual([true, codeMethods(library)]);
    expect(codeMethods(library)).not.toBeNull();
    expect(await changes()).toBe(before + 1);

    // Nothing is left that can be known.
    clock.advance(60_001);
    await reader.run(signal);
    expect(await changes()).toBe(before + 1);
  });

  it('get them from any server that has the library', async () => {
    const reference = new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32).fill(7)).endExotic();
    const hash = toHex(reference.hash());
    await addUnread([reference]);
    clock.advance(60_001);
    await reader.run(signal);
    expect((await stored()).get(hash)).toEqual([false, null]);
    await setCodeMethods(client, reference.hash(), [0, 97_026]);
    expect((await stored()).get(hash)).toEqual([true, [0, 97_026]]);
  });
});
