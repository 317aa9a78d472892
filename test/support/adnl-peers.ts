import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type AdnlClient, connectAdnl } from '#drivers/adnl/client.js';
import { generateKeyPair, keyPairFromSeed, shortId } from '#drivers/adnl/keys.js';
import { type AdnlMetrics, createAdnlMetrics } from '#drivers/adnl/metrics.js';
import type { AdnlClientOptions, AdnlServerOptions } from '#drivers/adnl/options.js';
import { type AdnlServer, listenAdnl, type QueryContext } from '#drivers/adnl/server.js';
import {
  buildHandshake,
  HANDSHAKE_BYTES,
  MAX_PACKET_LENGTH,
  PARAMS_BYTES,
  type PacketMessage,
  PacketReader,
  PacketWriter,
  readHandshake,
  readMessage,
  sessionKeys,
} from '#drivers/adnl/wire.js';
import { type Clock, systemClock } from '#kernel/clock.js';
import { startTcpProxy, type TcpProxy } from '#test/support/tcp-proxy.js';

/** Makes clients, servers and broken peers for a test, and ends all of them with it. */
export class AdnlBench {
  readonly clientMetrics: AdnlMetrics = createAdnlMetrics();
  readonly serverMetrics: AdnlMetrics = createAdnlMetrics();
  /** What servers reported. */
  readonly faults: unknown[] = [];
  readonly #endings: (() => unknown)[] = [];

  async server(
    onQuery: (data: Uint8Array, context: QueryContext) => Promise<Uint8Array> | Uint8Array,
    options: Partial<AdnlServerOptions> = {},
    clock: Clock = systemClock,
  ): Promise<AdnlServer> {
    const modules = {
      clock,
      randomBytes,
      metrics: this.serverMetrics,
      onQuery,
      onFault: (fault: unknown) => this.faults.push(fault),
    };
    const server = await listenAdnl({ seed: randomBytes(32), closeGraceMs: 50, ...options }, modules);
    this.#endings.push(() => server.close());
    return server;
  }

  async client(
    target: { host: string; port: number },
    serverPublicKey: Uint8Array,
    options: Partial<AdnlClientOptions> = {},
    clock: Clock = systemClock,
  ): Promise<AdnlClient> {
    const { host, port } = target;
    const modules = { clock, randomBytes, metrics: this.clientMetrics };
    const client = await connectAdnl({ host, port, serverPublicKey, ...options }, modules);
    this.#endings.push(() => client.close());
    return client;
  }

  async proxy(target: { host: string; port: number }): Promise<TcpProxy> {
    const proxy = await startTcpProxy(target);
    this.#endings.push(() => proxy.close());
    return proxy;
  }

  /** A TCP server that does with its clients what the test says. */
  async rawServer(onSocket: (socket: Socket) => void): Promise<{ host: string; port: number }> {
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      onSocket(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#endings.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }

  /** An ADNL server made of the bare parts: it does the handshake, and the rest is up to the test. */
  async scriptedServer(
    onMessage: (message: PacketMessage, peer: ScriptedPeer) => void,
    ready: (peer: ScriptedPeer) => void = (peer) => peer.send(new Uint8Array(0)),
  ): Promise<{ host: string; port: number; publicKey: Uint8Array }> {
    const keys = keyPairFromSeed(randomBytes(32));
    const target = await this.rawServer(async (socket) => {
      let bytes = Buffer.alloc(0);
      let peer: ScriptedPeer | null = null;
      socket.on('data', (chunk: Buffer) => {
        if (peer !== null) return peer.receive(chunk);
        bytes = Buffer.concat([bytes, chunk]);
        if (bytes.length < HANDSHAKE_BYTES) return;
        const params = readHandshake(bytes.subarray(0, HANDSHAKE_BYTES), keys, shortId(keys.publicKey));
        const { toClient, toServer } = sessionKeys(params);
        peer = new ScriptedPeer(socket, toServer, toClient, onMessage);
        ready(peer);
        peer.receive(bytes.subarray(HANDSHAKE_BYTES));
      });
    });
    return { ...target, publicKey: keys.publicKey };
  }

  /** An ADNL client made of the bare parts. */
  async scriptedClient(
    target: { host: string; port: number; publicKey: Uint8Array },
    onMessage: (message: PacketMessage, peer: ScriptedPeer) => void = () => {},
  ): Promise<ScriptedPeer> {
    const socket = await this.rawClient(target);
    const params = randomBytes(PARAMS_BYTES);
    const { toClient, toServer } = sessionKeys(params);
    const peer = new ScriptedPeer(socket, toClient, toServer, onMessage);
    socket.on('data', (chunk: Buffer) => peer.receive(chunk));
    socket.write(buildHandshake(target.publicKey, generateKeyPair(randomBytes), params));
    return peer;
  }

  async rawClient(target: { host: string; port: number }): Promise<Socket> {
    const socket = connect({ host: target.host, port: target.port, noDelay: true });
    socket.on('error', () => {});
    await once(socket, 'connect');
    this.#endings.push(() => socket.destroy());
    return socket;
  }

  async end(): Promise<void> {
    for (const ending of this.#endings.reverse()) await ending();
    this.#endings.length = 0;
  }
}

/** One side of a connection whose every byte the test decides. */
export class ScriptedPeer {
  readonly socket: Socket;
  readonly messages: PacketMessage[] = [];
  readonly #reader: PacketReader;
  readonly #writer: PacketWriter;

  constructor(
    socket: Socket,
    receive: { key: Uint8Array; iv: Uint8Array },
    send: { key: Uint8Array; iv: Uint8Array },
    onMessage: (message: PacketMessage, peer: ScriptedPeer) => void,
  ) {
    this.socket = socket;
    this.#writer = new PacketWriter(send, randomBytes);
    this.#reader = new PacketReader(receive, MAX_PACKET_LENGTH, (payload) => {
      const message = readMessage(Uint8Array.from(payload));
      this.messages.push(message);
      onMessage(message, this);
    });
  }

  receive(chunk: Uint8Array): void {
    this.#reader.push(chunk);
  }

  /** Sends a payload as a packet. */
  send(payload: Uint8Array): void {
    this.sendPlain(Buffer.concat(this.#writer.frame(payload)));
  }

  /** Sends bytes that are no packet, encrypted as if they were. */
  sendPlain(bytes: Uint8Array): void {
    this.socket.write(this.#writer.encrypt(bytes));
  }

  /** The plain bytes of a packet, for tests that break them. */
  packet(payload: Uint8Array): Buffer {
    return Buffer.concat(this.#writer.frame(payload));
  }
}

/** Waits until something holds; gives up after `timeoutMs` with the last value that it saw. */
export async function until<Value>(
  look: () => Value,
  holds: (value: Value) => boolean,
  timeoutMs = 10_000,
): Promise<Value> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = look();
    if (holds(value)) return value;
    if (performance.now() > end) throw new TypeError(`did not come to hold; the last value was ${String(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
