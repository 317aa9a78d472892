import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { TargetPolicy } from '#drivers/web/target-policy.js';

/** What a server does with a connection once the head of the request has come. */
export type Behaviour = (socket: Socket, path: string) => void;

/** Everything goes to this computer. */
export const LOOPBACK_ONLY: TargetPolicy = { addressesOf: async () => [{ address: '127.0.0.1', family: 4 }] };

/** An HTTP server that answers as a test says, byte by byte. */
export class MisbehavingServer {
  readonly server: Server;
  readonly sockets = new Set<Socket>();
  /** Intervals of behaviours. */
  readonly timers = new Set<NodeJS.Timeout>();
  behave: Behaviour = () => {};
  requests = 0;

  private constructor() {
    this.server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => {});
      let head = '';
      socket.on('data', (bytes) => {
        const before = head.includes('\r\n\r\n');
        head += bytes.toString('latin1');
        if (before || !head.includes('\r\n\r\n')) return;
        this.requests++;
        this.behave(socket, head.split(' ')[1]!);
      });
    });
  }

  static async start(): Promise<MisbehavingServer> {
    const started = new MisbehavingServer();
    await once(started.server.listen(0, '127.0.0.1'), 'listening');
    return started;
  }

  get port(): number {
    return (this.server.address() as { port: number }).port;
  }

  /** Ends what goes on, and counts from 0 again. */
  reset(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.timers.clear();
    for (const socket of this.sockets) socket.destroy();
    this.requests = 0;
  }

  close(): Promise<unknown> {
    return new Promise((done) => this.server.close(done));
  }
}

/** Answers with status 200, lines of the head, and a body. */
export function answer(head: readonly string[], body: string | Uint8Array = ''): Behaviour {
  return (socket) => {
    socket.write(`${['HTTP/1.1 200 OK', 'connection: close', ...head].join('\r\n')}\r\n\r\n`);
    socket.end(body);
  };
}

/** Writes a text, and leaves the connection open. */
export function answerOf(text: string): Behaviour {
  return (socket) => void socket.write(text);
}
