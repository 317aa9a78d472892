import { expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { pruneBelow } from '#drivers/store/write/partitions.js';
import { wantPastContracts } from '#drivers/store/write/past-contracts.js';
import { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { testDatabase } from '#test/support/test-database.js';

const IDENTITY = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };

it('earlier states of contracts are dropped with the traces that need them', async () => {
  const test = await testDatabase();
  const database = await Database.open({ url: test.url }, { clock: systemClock });
  try {
    await database.transaction((client) => openIndex(client, IDENTITY, 100));
    const address = Address.ofParts(0, new Uint8Array(32));
    await database.withWriter(async (client) => {
      await wantPastContracts(
        client,
        [50, 198, 199, 200, 300].map((mc_seqno) => ({ address, mc_seqno })),
      );
      expect(await pruneBelow(client, 250)).toBe(200);
      const { rows } = await client.query('SELECT mc_seqno FROM past_contracts ORDER BY 1');
      expect(rows.map(({ mc_seqno }) => mc_seqno)).toEqual([199, 200, 300]);
    });
  } finally {
    await database.close();
    await test.close();
  }
});
