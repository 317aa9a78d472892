import { type AddressInfo, createServer, type Socket } from 'node:net';
import { adnlErrors } from '#drivers/adnl/errors.js';
import { type KeyPair, keyPairFromSeed, shortId } from '#drivers/adnl/keys.js';
import { createAdnlMetrics } from '#drivers/adnl/metrics.js';
import { type AdnlServerOptions, checkServerOptions } from '#drivers/adnl/options.js';
import { type AdnlServerModules, type ServerContext, ServerPeer } from '#drivers/adnl/server-peer.js';
import { discard } from '#drivers/adnl/socket-listeners.js';

/** A server that listens. */
export interface AdnlServer {
  readonly host: string;
  /** The one it really listens on, when 0 was asked for. */
  readonly port: number;
  /** 32 bytes: what a client must know. */
  readonly publicKey: Uint8Array;
  /** Clients that are there, those in their handshake included. */
  readonly connections: number;
  /**
   * Listens no more, lets the queries in hand be answered within `closeGraceMs`, and resolves when all connections have
   * ended. Idempotent; never rejects.
   */
  close(): Promise<void>;
}

/**
 * Starts a server. Resolves when it listens.
 *
 * @throws adnl/bad-option, adnl/listen-failed
 */
export async function listenAdnl(options: AdnlServerOptions, modules: AdnlServerModules): Promise<AdnlServer> {
  const checked = checkServerOptions(options);
  const keys: KeyPair = keyPairFromSeed(checked.seed);
  const metrics = modules.metrics ?? createAdnlMetrics();
  const context: ServerContext = {
    keys,
    serverId: shortId(keys.publicKey),
    options: checked,
    modules: { ...modules, metrics },
  };
  const peers = new Set<ServerPeer>();
  let closing: Promise<void> | null = null;

  const server = createServer({ noDelay: true }, (socket: Socket) => {
    if (closing !== null || peers.size >= checked.maxConnections) {
      metrics.connections_refused++;
      discard(socket);
      return;
    }
    const peer = new ServerPeer(socket, context, () => peers.delete(peer));
    peers.add(peer);
  });

  const { host, port } = checked;
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      reject(adnlErrors['listen-failed']({ peer: `${host}:${port}`, problem: error.code ?? error.message }, error));
    };
    server.once('error', onError);
    server.listen({ host, port }, () => {
      server.off('error', onError);
      // What may come later, such as too many open files, concerns one client that did not get in.
      server.on('error', (error) => modules.onFault?.(error, host));
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;

  async function stop(): Promise<void> {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const peer of [...peers]) peer.finish();
    const cancel = modules.clock.schedule(checked.closeGraceMs, () => {
      for (const peer of [...peers]) peer.cut();
    });
    await ended;
    cancel();
  }

  return {
    host,
    port: bound.port,
    publicKey: keys.publicKey,
    get connections() {
      return peers.size;
    },
    close() {
      closing ??= stop();
      return closing;
    },
  };
}
