import { Registry } from 'prom-client';
import type { HttpApi } from '#api/http/http-api.js';
import { type HttpServer, startHttpServer } from '#api/http/server.js';
import type { LocalnetContext } from '#api/localnet/context.js';
import { localnetDescription } from '#api/localnet/description.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { openAccess } from '#test/support/fake-http-api.js';
import { FakeLocalNode } from '#test/support/fake-local-node.js';

/** The control API of a {@link FakeLocalNode} on a free port of this machine. */
export async function serveFakeNode(
  node = new FakeLocalNode(),
): Promise<HttpServer & { readonly node: FakeLocalNode }> {
  const api: HttpApi<LocalnetContext> = {
    ...localnetDescription,
    context: () => ({
      node,
      balanceOf: async (address) => node.balanceOf(address),
      untilKnown: async (block) => node.noteKnown(block),
    }),
  };
  const server = await startHttpServer(
    { host: '127.0.0.1', port: 0, version: '2.2.0', requestLog: 'none' },
    {
      access: openAccess,
      clock: systemClock,
      unixTimeMs: Date.now,
      randomBytes: (size) => new Uint8Array(size),
      logger: silentLogger,
      metrics: new Registry(),
      networks: [
        {
          name: 'local',
          hosts: [],
          apis: [api],
          health: () => ({ ready: true, problem: null, headSeqno: node.seqno, headAgeMs: 0 }),
          headSeqno: () => node.seqno,
        },
      ],
    },
  );
  return { ...server, node };
}
