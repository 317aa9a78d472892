import { systemEnvironment } from '#app/cli/environment.js';
import { readSettings } from '#app/config/setting.js';
import { devSettings } from '#app/config/settings.js';
import { withClosers } from '#app/service/environment.js';
import { startLedgerNetwork } from '#app/service/replayed-network.js';
import { startService } from '#app/service/service.js';
import { silentLogger } from '#kernel/logger.js';
import { keptReplay } from '#test/support/kept-replay.js';

/** A recorded chain behind the whole service, all in this process: liteserver, pool, virtual machine, HTTP. */
export interface ServedReplay {
  /** `http://127.0.0.1:40000/api/v2` */
  readonly api: string;
  readonly lastSeqno: number;
  close(): Promise<void>;
}

/** As `tern dev` does, on a free port, with its default settings but for a single thread for get methods and the `spec` profile. */
export function serveReplay(folder: string): Promise<ServedReplay> {
  return withClosers(async (closers) => {
    const surroundings = systemEnvironment(silentLogger);
    const flags = { port: '0', tvmWorkers: '1', requestTimeout: '60', logLevel: 'silent', profile: 'spec' };
    const { values: settings } = readSettings(devSettings, { flags, environment: {} });
    const { host, port } = settings;
    const replayed = await startLedgerNetwork(
      keptReplay(folder, { to: null, head: null }),
      { name: 'dev', folder },
      surroundings,
    );
    closers.add(() => replayed.close());
    const service = await startService(
      {
        version: '2.2.0',
        networks: [replayed.network],
        groups: [],
        listeners: [{ address: { host, port }, networks: [replayed.network.name] }],
        hostOf: [],
        indexes: new Map(),
        keepsKeyBlocks: false,
        explorerAt: '',
        settings,
      },
      surroundings,
    );
    closers.add(() => service.close());
    await untilReady(service.servers[0]!.url);
    return {
      api: `${service.servers[0]!.url}/api/v2`,
      lastSeqno: replayed.lastSeqno,
      close: () => closers.close(),
    };
  });
}

async function untilReady(url: string): Promise<void> {
  for (;;) {
    const { status } = await fetch(`${url}/readyz`);
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
