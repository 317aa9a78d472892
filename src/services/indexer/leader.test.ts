import { once } from 'node:events';
import { expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { type IndexerContext, IndexView } from '#services/indexer/index-progress.js';
import { IndexLeader, type IndexLeaderModules } from '#services/indexer/leader.js';
import { Retries } from '#services/indexer/retries.js';
import { testDatabase } from '#test/support/test-database.js';

const IDENTITY = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };

it('a leader that only derives has not done its work when the leadership is lost', async () => {
  const test = await testDatabase();
  const database = await Database.open({ url: test.url }, { clock: systemClock });
  try {
    const state = await database.transaction((client) => openIndex(client, IDENTITY, 64));
    const lost = new AbortController();
    const work = {
      settings: { deriveOnly: true, contracts: true, actions: false, accounts: null, follow: false },
      ...{ database, clock: systemClock, unixTimeMs: Date.now, retries: new Retries(systemClock, silentLogger) },
    } as unknown as IndexerContext;
    const detection = {
      setPace: () => {},
      drain: async (signal: AbortSignal) => {
        const aborted = once(signal, 'abort');
        lost.abort();
        await aborted;
      },
      run: async (_: unknown, signal: AbortSignal) => {
        if (!signal.aborted) await once(signal, 'abort');
        await new Promise(setImmediate);
        throw indexerErrors.stopped({});
      },
    };
    const modules = { detection, view: new IndexView(state, work) } as unknown as IndexLeaderModules;
    const leader = new IndexLeader(work, modules);
    await expect(leader.run(lost.signal)).rejects.toMatchObject({ code: 'indexer/stopped' });
  } finally {
    await database.close();
    await test.close();
  }
});
