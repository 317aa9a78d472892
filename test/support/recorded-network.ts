import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { systemClock } from '#kernel/clock.js';
import { globalConfig, startLiteserver } from '#localnet/liteserver/server.js';
import { keptReplay } from '#test/support/kept-replay.js';

/** A liteserver in this process. */
export interface RecordedNetwork {
  readonly lastSeqno: number;
  close(): Promise<void>;
}

/**
 * Serves the first blocks of a recorded chain, and writes a network configuration for it.
 *
 * @param to the last masterchain seqno; null: that of the recording
 */
export async function serveRecording(folder: string, to: number | null, configFile: string): Promise<RecordedNetwork> {
  const ledger = keptReplay(folder, { to, head: null });
  const server = await startLiteserver(
    { seed: randomBytes(32) },
    {
      ledger,
      clock: systemClock,
      unixTime: () => Math.floor(Date.now() / 1000),
      randomBytes: (size) => randomBytes(size),
    },
  );
  const { port, publicKey } = server;
  writeFileSync(configFile, globalConfig({ host: '127.0.0.1', port, publicKey }, ledger.zerostate));
  return { lastSeqno: ledger.lastSeqno, close: () => server.close() };
}
