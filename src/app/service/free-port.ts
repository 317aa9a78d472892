import { createServer } from 'node:net';
import { cannotListen } from '#api/http/errors.js';

/** Checks that a port can be listened on, before anything is started behind it. @throws http/cannot-listen */
export async function requireFreePort({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(cannotListen(host, port, error));
    });
    server.listen({ host, port, exclusive: true }, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
