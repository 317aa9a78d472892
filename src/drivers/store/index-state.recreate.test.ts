import { expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex, recreateIndex } from '#drivers/store/index-state.js';
import {
  disownCursorsAfter,
  insertWebhook,
  readWaiting,
  readWebhook,
  type StoredWebhook,
  storeDeliveries,
} from '#drivers/store/write/webhooks.js';
import { systemClock } from '#kernel/clock.js';
import { testDatabase } from '#test/support/test-database.js';

const IDENTITY = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };

const hookOf = (id: string, cursor: string): StoredWebhook => ({
  ...{ id, owner: 'key', url: 'https://example.com/', filter: { types: ['blocks'] }, cursor, created_at: 5n },
  secrets: { secret: 'whsec_1', previous_secret: null, previous_until: 0n },
});

async function withIndex(work: (database: Database) => Promise<void>): Promise<void> {
  const test = await testDatabase();
  const database = await Database.open({ url: test.url }, { clock: systemClock });
  try {
    await database.transaction((client) => openIndex(client, IDENTITY, 64));
    await work(database);
  } finally {
    await database.close();
    await test.close();
  }
}

it('an index that is created again keeps webhooks and their events', () =>
  withIndex(async (database) => {
    const hook = hookOf('wh_1', 'abc.7.7.7');
    await database.withWriter(async (client) => {
      await insertWebhook(client, hook);
      const cursors = { before: 'abc.7.7.7', after: 'abc.8.8.8' };
      expect(await storeDeliveries(client, 'wh_1', ['{"n":1}'], cursors, 9)).toBe(true);
    });
    await database.transaction((client) => recreateIndex(client, IDENTITY, 64));
    await database.withWriter(async (client) => {
      expect(await readWebhook(client, null, 'wh_1')).toEqual({ ...hook, cursor: 'abc.8.8.8' });
      expect(await readWaiting(client, 'wh_1', { count: 9, bytes: 999 })).toMatchObject([
        { number: 1n, body: '{"n":1}' },
      ]);
    });
  }));

it('cursors of webhooks behind the newest block of the chain are of no chain any more', () =>
  withIndex(async (database) => {
    const cursors = ['0a.10.9.0-ff', '0a.11-1f.10.10', '0a.4294967295.1.1'];
    await database.withWriter(async (client) => {
      for (const [i, cursor] of cursors.entries()) await insertWebhook(client, hookOf(`wh_${i}`, cursor));
      for (let i = 0; i < 2; i++) await disownCursorsAfter(client, 10);
      const found = [];
      for (const i of cursors.keys()) found.push((await readWebhook(client, null, `wh_${i}`))!.cursor);
      expect(found).toEqual(['0a.10.9.0-ff', '.11-1f.10.10', '.4294967295.1.1']);
    });
  }));
