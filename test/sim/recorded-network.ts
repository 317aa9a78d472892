import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock.js';
import { globalConfig, startLiteserver } from '#localnet/liteserver/server.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { keptReplay } from '#test/support/kept-replay.js';

/** A recorded chain that a liteserver on this machine serves. */
export interface RecordedNetwork {
  /** File of its global configuration. */
  readonly config: string;
  /** A folder for what belongs to the network; it goes with it. */
  readonly folder: string;
  /** The last masterchain block that was recorded. */
  readonly last: number;
  readonly port: number;
  readonly head: number;
  /** What is served now. */
  readonly ledger: ReplayLedger;
  /** Moves the head on so many times a second, up to the last block. */
  follow(perSecond: number): void;
  /** The liteserver is gone. */
  stop(): Promise<void>;
  /** It is there again, or begins again: the head is this block (`null`: the last one), and stays there. */
  restart(head: number | null): Promise<void>;
  close(): Promise<void>;
}

export async function recordedNetwork(chain: string, to: number | null = null): Promise<RecordedNetwork> {
  const folder = await mkdtemp(join(tmpdir(), 'tern-sim-'));
  const config = join(folder, 'global.config.json');
  const seed = randomBytes(32);
  const start = async (head: number | null, port = 0) => {
    const ledger = keptReplay(chain, { to, head });
    const modules = { ledger, clock: systemClock, unixTime: () => Math.floor(Date.now() / 1000), randomBytes: bytes };
    return { ledger, server: await startLiteserver({ host: '127.0.0.1', port, seed }, modules) };
  };
  let running = await start(null);
  const { port, publicKey } = running.server;
  const last = running.ledger.lastSeqno;
  await writeFile(config, globalConfig({ host: '127.0.0.1', port, publicKey }, running.ledger.zerostate));
  let timer: NodeJS.Timeout | null = null;
  const stop = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  return {
    ...{ config, folder, last, port },
    get head() {
      return running.ledger.head?.id.seqno ?? 0;
    },
    get ledger() {
      return running.ledger;
    },
    follow: (perSecond) => {
      stop();
      timer = setInterval(() => {
        const next = (running.ledger.head?.id.seqno ?? 0) + 1;
        if (next > last) stop();
        else running.ledger.advanceTo(next);
      }, 1000 / perSecond);
    },
    stop: async () => {
      stop();
      await running.server.close();
    },
    restart: async (head) => {
      stop();
      await running.server.close();
      running = await start(head, port);
    },
    close: async () => {
      stop();
      await running.server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function bytes(size: number): Uint8Array {
  return randomBytes(size);
}
