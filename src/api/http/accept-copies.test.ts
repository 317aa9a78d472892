import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { copyListeningSocket } from '#api/http/accept-copies.js';

describe('copies of a listening socket', () => {
  it('accept as many connections in a turn, and none once they are closed', async () => {
    const accepted: Socket[] = [];
    const server = createServer((socket) => accepted.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const copies = await copyListeningSocket(server, 7);
    expect(copies.count).toBe(7);
    const clients = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'));
    await Promise.all(clients.map((client) => once(client, 'connect')));
    await expect.poll(() => accepted.length).toBe(40);
    const closed = Promise.all([copies.close(), once(server.close(), 'close')]);
    for (const each of [...clients, ...accepted]) each.destroy();
    await closed;
    const late = connect(port, '127.0.0.1');
    const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  it('are none of a server that does not listen', async () => {
    expect((await copyListeningSocket(createServer(), 3)).count).toBe(0);
  });
});
