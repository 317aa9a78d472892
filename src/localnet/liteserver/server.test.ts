import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { connectAdnl } from '#drivers/adnl/client.js';
import type { AdnlServer } from '#drivers/adnl/server.js';
import { encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerGetMasterchainInfo, LiteServerGetTime } from '#formats/tl/lite-api.js';
import { decodeLiteAnswer, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { systemClock } from '#kernel/clock.js';
import { startLiteserver } from '#localnet/liteserver/server.js';
import { contextOf, genesisLedger } from '#test/support/genesis-ledger.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(head: number) {
  const ledger = genesisLedger(head);
  const faults: unknown[] = [];
  const modules = { clock: systemClock, randomBytes: (size: number) => randomBytes(size) };
  const server: AdnlServer = await startLiteserver(
    { seed: randomBytes(32) },
    { ...contextOf(ledger), ...modules, onFault: (error) => faults.push(error) },
  );
  closers.push(() => server.close());
  const client = await connectAdnl(
    { host: server.host, port: server.port, serverPublicKey: server.publicKey, queryTimeoutMs: 5_000 },
    modules,
  );
  closers.push(() => client.close());
  return { ledger, client, faults };
}

describe('a liteserver on a port', () => {
  it('answers clients, and those who wait when the head has come', async () => {
    const { ledger, client } = await start(4);
    const ask = async (seqno: number | null) => {
      const wait = seqno === null ? null : { seqno, timeout_ms: 5_000 };
      const answer = await client.query(encodeLiteQuery(LiteServerGetMasterchainInfo, {}, wait));
      const decoded = decodeLiteAnswer(LiteServerGetMasterchainInfo, answer);
      return decoded.error === null ? decoded.value.last.seqno : decoded.error.code;
    };
    expect(await ask(null)).toBe(4);
    const waiting = ask(6);
    await ask(null);
    ledger.advanceTo(6);
    expect(await waiting).toBe(6);
  });

  it('does not answer what is no query to a liteserver', async () => {
    const { client, faults } = await start(4);
    const query = encodeBoxed(LiteServerGetTime, {});
    await expect(client.query(query, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'adnl/query-timeout' });
    expect(faults).toMatchObject([{ code: 'liteserver/bad-query' }]);
  });

  it('reports its own defects to its owner, to the client only that there was one', async () => {
    const { ledger, client, faults } = await start(4);
    ledger.state = () => {
      throw new TypeError('a defect');
    };
    const answer = await client.query(encodeLiteQuery(LiteServerGetMasterchainInfo, {}));
    const { error } = decodeLiteAnswer(LiteServerGetMasterchainInfo, answer);
    expect(error).toMatchObject({ code: 602, message: 'the query failed' });
    expect(faults).toEqual([new TypeError('a defect')]);
  });
});
