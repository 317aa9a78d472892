// A process of its own: three liteservers, each behind a proxy that does to it what networks do. The first can be made sick.
import { randomBytes } from 'node:crypto';
import { Random } from '../../test/fuzz/random.js';
import { FakeLiteserver } from '../../test/support/fake-liteserver.js';
import { startTcpProxy, type TcpProxy } from '../../test/support/tcp-proxy.js';
import { obey } from './peer-process.js';
import type { FaultName, ServerSpec, ServersCommand } from './protocol.js';

/** Milliseconds: mostly about 10, a few several times as many. */
function usualDelays(seed: string): () => number {
  const random = new Random(seed);
  return () => {
    const share = random.below(10_000) / 10_000;
    return share > 0.97 ? 40 + random.below(20) : 6 + random.below(8);
  };
}

const FAULTS: Readonly<Record<FaultName, (server: FakeLiteserver, proxy: TcpProxy) => void>> = {
  nothing: () => {},
  stalls: (_, { toClient }) => toClient.stall(),
  resets: (_, proxy) => {
    proxy.refusing = true;
    proxy.resetAll();
  },
  'resets now and then': (_, proxy) => {
    const timer = setInterval(() => proxy.resetAll(), 250);
    endings.push(() => clearInterval(timer));
  },
  drips: (_, { toClient }) => {
    toClient.segmentBytes = 3;
    toClient.delayMs = 10;
  },
  'sends garbage': (_, { toClient }) => {
    toClient.change = (bytes) => randomBytes(bytes.length);
  },
  'is ten times as slow': (server) => {
    const delay = server.delayMs as () => number;
    server.delayMs = () => 10 * delay();
    endings.push(() => {
      server.delayMs = delay;
    });
  },
};

const endings: (() => void)[] = [];
const servers: FakeLiteserver[] = [];
const proxies: TcpProxy[] = [];
for (const name of ['a', 'b', 'c']) {
  const server = await new FakeLiteserver(name).start();
  server.delayMs = usualDelays(name);
  servers.push(server);
  proxies.push(await startTcpProxy(server.address));
}

function heal(): void {
  for (const end of endings.splice(0)) end();
  for (const proxy of proxies) {
    proxy.refusing = false;
    proxy.heal();
    proxy.resetAll();
  }
}

/** After each command it says where the servers are. */
obey((command: ServersCommand): readonly ServerSpec[] => {
  if (command === 'heal') heal();
  else FAULTS[command.fault](servers[0]!, proxies[0]!);
  return servers.map((server, i) => {
    const { host, port, publicKey } = server.through(proxies[i]!);
    return { host, port, publicKey: [...publicKey] };
  });
});
