import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { connectAdnl } from '#drivers/adnl/client.js';
import { listenAdnl } from '#drivers/adnl/server.js';
import { systemClock } from '#kernel/clock/system-clock.js';

const modules = { clock: systemClock, randomBytes };

it('answers', async () => {
  const server = await listenAdnl({ seed: randomBytes(32) }, { ...modules, onQuery: (data) => data.slice().reverse() });
  const client = await connectAdnl(
    { host: server.host, port: server.port, serverPublicKey: server.publicKey },
    modules,
  );
  expect(await client.query(Uint8Array.of(1, 2, 3))).toEqual(Uint8Array.of(3, 2, 1));
  const big = randomBytes(5_000_000);
  expect(Buffer.compare(await client.query(big), big.reverse())).toBe(0);
  client.close();
  await server.close();
});
