import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { ADNLClientTCP } from 'adnl';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readMessage, writePing, writeQuery } from '#drivers/adnl/wire.js';
import { AdnlBench, until } from '#test/support/adnl-peers.js';

let bench: AdnlBench;
beforeEach(() => {
  bench = new AdnlBench();
});
afterEach(() => bench.end());

it('the npm package adnl speaks to our server', async () => {
  const server = await bench.server(async (data) => {
    await new Promise((resolve) => setTimeout(resolve, data.length % 7));
    return data.map((byte) => byte ^ 0x55);
  });
  const client = new ADNLClientTCP(`tcp://${server.host}:${server.port}`, Buffer.from(server.publicKey));
  const errors: unknown[] = [];
  client.on('error', (error) => errors.push(error));
  const answers = new Map<string, Uint8Array>();
  let pongs = 0;
  client.on('data', (payload: Buffer) => {
    const message = readMessage(payload);
    if (message.kind === 'answer') answers.set(Buffer.from(message.id).toString('hex'), message.data);
    if (message.kind === 'pong' && message.randomId === 77n) pongs++;
  });
  const ready = once(client, 'ready');
  await client.connect();
  await ready;

  const queries = Array.from({ length: 60 }, (_, i) => ({ id: randomBytes(32), data: randomBytes(i * i * 10) }));
  for (const { id, data } of queries) client.write(Buffer.from(writeQuery(id, data)));
  client.write(Buffer.from(writePing(77n)));
  await until(
    () => answers.size + pongs,
    (count) => count === 61,
    30_000,
  );
  for (const { id, data } of queries) {
    const answer = answers.get(id.toString('hex'));
    expect(
      Buffer.compare(
        answer!,
        data.map((byte) => byte ^ 0x55),
      ),
      `${data.length} bytes`,
    ).toBe(0);
  }
  const closed = once(client, 'close');
  client.end();
  await closed;
  expect([errors, bench.faults]).toEqual([[], []]);
});
