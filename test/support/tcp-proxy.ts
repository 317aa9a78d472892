import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the bytes of one direction. All of it may be changed while connections are open. */
class ProxyDirection {
  /** Passes on at most so many bytes at a time, each piece as a TCP segment of its own. */
  segmentBytes = Number.POSITIVE_INFINITY;
  /** Waits so long before each piece. */
  delayMs: number | (() => number) = 0;
  /** Swallows everything, as a broken line does. */
  dropping = false;
  /** Sees each piece before it is passed on, and where in the stream of its connection it stands; gives what is passed on. */
  change: ((bytes: Buffer, offset: number) => Buffer) | null = null;
  /** Resets the connection when so many bytes of it have been passed on. */
  resetAfterBytes = Number.POSITIVE_INFINITY;
  /** Bytes passed on, of all connections. */
  passed = 0;
  #gate: { readonly opened: Promise<void>; readonly open: () => void } | null = null;

  /** Reads nothing more, so that the sender runs into back-pressure, until {@link resume}. */
  stall(): void {
    if (this.#gate !== null) return;
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#gate = { opened, open };
  }

  resume(): void {
    this.#gate?.open();
    this.#gate = null;
  }

  /** Inverts one bit of the byte at this place of each connection's stream. */
  corruptByteAt(place: number): void {
    this.change = (bytes, offset) => {
      if (place < offset || place >= offset + bytes.length) return bytes;
      const copy = Buffer.from(bytes);
      copy[place - offset]! ^= 1;
      return copy;
    };
  }

  /** Everything passes again as it comes. What a stall held back is passed on. */
  heal(): void {
    this.segmentBytes = Number.POSITIVE_INFINITY;
    this.delayMs = 0;
    this.dropping = false;
    this.change = null;
    this.resetAfterBytes = Number.POSITIVE_INFINITY;
    this.resume();
  }

  /** Waits while stalled. */
  async opened(): Promise<void> {
    while (this.#gate !== null) await this.#gate.opened;
  }
}

/** Stands between clients and a server on 127.0.0.1 and does to them what networks do. */
export class TcpProxy {
  readonly toServer = new ProxyDirection();
  readonly toClient = new ProxyDirection();
  readonly host = '127.0.0.1';
  /** Resets new clients at once instead of taking them. */
  refusing = false;
  /** Clients ever taken. */
  accepted = 0;
  readonly #target: { host: string; port: number };
  readonly #server = createServer({ noDelay: true }, (socket) => this.#onClient(socket));
  readonly #sockets = new Set<Socket>();

  constructor(target: { host: string; port: number }) {
    this.#target = { host: target.host, port: target.port };
  }

  async listen(): Promise<this> {
    this.#server.listen(0, this.host);
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections open to clients. */
  get connections(): number {
    return this.#sockets.size / 2;
  }

  heal(): void {
    this.refusing = false;
    this.toServer.heal();
    this.toClient.heal();
  }

  /** Resets all open connections (RST, not FIN). */
  resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.resetAll();
    this.heal();
    await closed;
  }

  #onClient(client: Socket): void {
    client.on('error', () => {});
    if (this.refusing) {
      client.resetAndDestroy();
      return;
    }
    this.accepted++;
    const server = connect({ ...this.#target, noDelay: true });
    server.on('error', () => {});
    this.#sockets.add(client).add(server);
    const cut = () => {
      this.#sockets.delete(client);
      this.#sockets.delete(server);
      client.destroy();
      server.destroy();
    };
    client.on('close', cut);
    server.on('close', cut);
    void pump(client, server, this.toServer);
    void pump(server, client, this.toClient);
  }
}

/** A proxy that listens, in front of a server. */
export function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  return new TcpProxy(target).listen();
}

async function pump(from: Socket, to: Socket, direction: ProxyDirection): Promise<void> {
  let offset = 0;
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; ) {
        const left = direction.resetAfterBytes - offset;
        const piece = chunk.subarray(at, at + Math.min(direction.segmentBytes, Math.max(left, 1)));
        at += piece.length;
        await direction.opened();
        const delayMs = typeof direction.delayMs === 'number' ? direction.delayMs : direction.delayMs();
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        if (left <= 0) {
          to.resetAndDestroy();
          from.resetAndDestroy();
          return;
        }
        const changed = direction.change?.(piece, offset) ?? piece;
        offset += piece.length;
        if (direction.dropping) continue;
        direction.passed += changed.length;
        if (to.destroyed) return;
        if (!to.write(changed)) await drained(to);
        else if (at < chunk.length) await new Promise(setImmediate);
      }
      await direction.opened();
    }
    to.end();
  } catch {
    // One side is gone; the other follows.
    to.destroy();
  }
}

async function drained(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
