import type { AddressInfo } from 'node:net';
import { buildApp, type Closing } from '#api/http/app.js';
import { httpErrors } from '#api/http/errors.js';
import type { HttpModules } from '#api/http/modules.js';
import { checkHttpOptions, type HttpOptions } from '#api/http/options.js';
import { pause } from '#kernel/async/pause.js';

/** How often idle connections are looked for while closing. */
const SWEEP_MS = 20;

/** A server that listens. */
export interface HttpServer {
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /**
   * Says that it is not ready (for `notReadyMs`), stops accepting, lets requests under way end (for `drainMs` at most),
   * closes all connections. Calling it again gives the same promise.
   */
  close(): Promise<void>;
}

/**
 * Serves the APIs of some networks, their documents and reference pages, health and metrics.
 *
 * @throws http/bad-option, http/bad-endpoint, http/cannot-listen
 */
export async function startHttpServer(options: HttpOptions, modules: HttpModules): Promise<HttpServer> {
  const settings = checkHttpOptions(options);
  const closing: Closing = { isClosing: false };
  const { app, connections } = await buildApp(settings, modules, closing);
  const { host, port } = settings;
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw httpErrors['cannot-listen']({ host, port, problem: error instanceof Error ? error.message : '' }, error);
  }
  const address = app.server.address() as AddressInfo;

  const close = async () => {
    closing.isClosing = true;
    await pause(settings.notReadyMs, modules.clock);
    const cancel = modules.clock.schedule(settings.drainMs, () => {
      modules.logger.warn('closing connections with requests that did not end in time', { ms: settings.drainMs });
      app.server.closeAllConnections();
    });
    const closed = app.close();
    // A connection becomes idle when its request has ended, which may be later than now.
    const sweep = async () => {
      for (;;) {
        app.server.closeIdleConnections();
        // Those that never sent anything do not count as idle.
        for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
        if (await Promise.race([closed.then(() => true), pause(SWEEP_MS, modules.clock).then(() => false)])) return;
      }
    };
    await sweep();
    cancel();
  };
  let closed: Promise<void> | null = null;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    host: address.address,
    port: address.port,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
