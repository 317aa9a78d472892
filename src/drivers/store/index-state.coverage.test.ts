import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import {
  claimRange,
  coverageText,
  type IndexCoverage,
  type IndexIdentity,
  isHistoryComplete,
  isStateComplete,
  openIndex,
  readIndexProgress,
} from '#drivers/store/index-state.js';
import { completeState } from '#drivers/store/write/state-imports.js';
import { systemClock } from '#kernel/clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const hash = new Uint8Array(32).fill(1);
const IDENTITY = { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} } satisfies IndexIdentity;

let server: TestDatabase;
let database: Database;

beforeEach(async () => {
  server = await testDatabase();
  database = await Database.open({ url: server.url }, { clock: systemClock });
});

afterEach(async () => {
  await database.close();
  await server.close();
});

async function coverage(): Promise<IndexCoverage> {
  const progress = await readIndexProgress(database, { root_hash: hash, file_hash: hash }, {});
  return progress!.coverage;
}

const open = (identity: Partial<IndexIdentity> = {}) =>
  database.transaction((client) => openIndex(client, { ...IDENTITY, ...identity }, 100));
const claim = (from: number, to: number) => database.transaction((client) => claimRange(client, { from, to }, 1));
const complete = (mc_seqno: number) => database.transaction((client) => completeState(client, mc_seqno));
const text = async () => coverageText(await coverage());

describe('the coverage of an index', () => {
  it('that begins with the zerostate is complete', async () => {
    await open();
    expect(await text()).toBe('history=none; state=partial');
    await claim(1, 10);
    expect(await text()).toBe('history=1-10; state=complete');
    await claim(11, 11);
    const covered = await coverage();
    expect(covered).toEqual({ history: [{ from: 1, to: 11 }], selected: false, state_seqno: 11 });
    expect([isStateComplete(covered), isHistoryComplete(covered)]).toEqual([true, true]);
  });

  it('that begins late is partial, until all before it is filled: ranges join', async () => {
    await open();
    await claim(900, 905);
    expect(await text()).toBe('history=900-905; state=partial');
    await claim(1, 599);
    // The newest states of accounts that changed in between are not known.
    expect(await text()).toBe('history=1-599,900-905; state=partial');
    await claim(600, 899);
    expect(await text()).toBe('history=1-905; state=complete');
  });

  it('is complete with imported states and all blocks after them', async () => {
    await open();
    await claim(903, 905);
    await complete(899);
    expect(await text()).toBe('history=903-905; state=partial');
    await claim(900, 902);
    const covered = await coverage();
    expect(coverageText(covered)).toBe('history=900-905; state=complete');
    expect(isHistoryComplete(covered)).toBe(false);
    // Followed while they were imported; and older states say nothing new.
    await complete(902);
    await complete(10);
    await claim(906, 906);
    expect(await coverage()).toMatchObject({ state_seqno: 906 });
  });

  it('is not complete after a gap', async () => {
    await open();
    await claim(1, 10);
    await claim(20, 20);
    expect(await text()).toBe('history=1-10,20-20; state=partial');
    await claim(11, 19);
    expect(await text()).toBe('history=1-20; state=complete');
  });

  it('is never that of the chain when only some accounts are indexed', async () => {
    await open({ selection: { accounts: '3 (00)' } });
    await claim(1, 10);
    const covered = await coverage();
    expect(coverageText(covered)).toBe('history=1-10; state=partial; accounts=selected');
    expect([isStateComplete(covered), isHistoryComplete(covered)]).toEqual([false, false]);
  });

  it('is never complete when accounts come from elsewhere', async () => {
    await open();
    await claim(1, 10);
    await open({ accountsComeFromElsewhere: true });
    expect(await text()).toBe('history=1-10; state=partial');
    await claim(11, 11);
    expect(await text()).toBe('history=1-11; state=partial');
  });
});
