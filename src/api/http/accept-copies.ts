import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Server } from 'node:net';
import process from 'node:process';

/** Sends back as many copies of a listening socket as it is told, and ends. */
const COPIER = `process.on('message', (count, socket) => {
  for (let i = 0; i < count; i++) process.send(i, socket);
  process.disconnect();
});`;

const COPIED_WITHIN_MS = 10_000;

/** Descriptors of a listening socket beside that of its server. */
export interface AcceptCopies {
  readonly count: number;
  /** Accepts nothing more; resolves when the connections that they accepted have ended. */
  close(): Promise<void>;
}

/**
 * Lets a server accept several connections in each turn of the event loop. Node accepts one for each descriptor of a listening
 * socket; when turns are long and many connections come, those that wait in the kernel are too many, it drops further ones, and
 * their clients try again after one, three and seven seconds. Node cannot copy a descriptor, but gets a copy when another
 * process sends it back.
 *
 * @param server listens
 * @returns fewer copies, or none, where the system does not allow it
 */
export async function copyListeningSocket(server: Server, count: number): Promise<AcceptCopies> {
  const { _handle: socket } = server as Server & { readonly _handle?: object | null };
  const copies: Server[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(copies.map((each) => new Promise<void>((resolve) => each.close(() => resolve()))));
  };
  if (count < 1 || socket === undefined || socket === null || process.platform === 'win32') return { count: 0, close };
  const copier = spawn(process.execPath, ['-e', COPIER], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: {} });
  const signal = AbortSignal.timeout(COPIED_WITHIN_MS);
  copier.on('message', (_, copy) => {
    if (copy === undefined) return;
    const also = new Server({ allowHalfOpen: true, noDelay: true });
    also.on('connection', (connection) => server.emit('connection', connection));
    also.on('error', () => {});
    also.listen({ _handle: copy });
    if (server.listening) copies.push(also);
    else also.close();
  });
  try {
    copier.send(count, socket as never, () => {});
    await once(copier, 'exit', { signal });
  } catch {
    copier.kill();
  }
  return { count: copies.length, close };
}
