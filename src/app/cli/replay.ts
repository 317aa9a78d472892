import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { Command } from 'commander';
import { cliErrors } from '#app/cli/errors.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { printPosition } from '#formats/proofs/block-id.js';
import { MAX_SPLIT_BITS } from '#formats/proofs/split-state.js';
import { fromBase64, fromHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import type { RunGetMethod } from '#localnet/liteserver/lite-handler.js';
import { globalConfig, startLiteserver } from '#localnet/liteserver/server.js';
import { openReplay, paceHead, parsePace, parseSeqno } from '#localnet/replay/replay-ledger.js';
import { exportStates } from '#localnet/replay/state-export.js';

interface ReplayFlags {
  readonly listen: string;
  readonly to?: string;
  readonly pace?: string;
  readonly key?: string;
  readonly configOut?: string;
  readonly exportState?: string;
  readonly stateOut?: string;
  readonly splitDepth: string;
}

/** `tern replay`: serves a recorded chain as a liteserver. Runs until interrupted. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('serve a recorded chain as a liteserver, and print the global config for clients')
    .argument('<folder>', 'archive packs (.pack, .pack.gz) or block files, and zerostates')
    .option('--listen <address>', 'IPv4 address and port; 0 for a free port', '127.0.0.1:0')
    .option('--to <seqno>', 'the last masterchain block to serve (default: the last recorded one)')
    .option(
      '--pace <pace>',
      'advance the head from block 1: real (recorded speed), 10x (times as fast) or 5 (blocks per second)',
    )
    .option('--key <file>', 'private key file of the liteserver: 32 bytes, raw, hex or base64 (default: a new key)')
    .option('--config-out <file>', 'also write the global config to this file')
    .option('--export-state <seqno>', 'instead of serving, write the states after this masterchain block, and exit')
    .option('--state-out <folder>', 'where to, a new folder (default: state-SEQNO in this one)')
    .option('--split-depth <bits>', 'divide exported states by account prefixes of this length; 0: whole states', '0')
    .action(async (folder: string, flags: ReplayFlags, command: Command) => {
      const { writeOut = (text: string) => void process.stdout.write(text) } = command.configureOutput();
      if (flags.exportState !== undefined) {
        writeOut(exportReplayedStates(folder, flags, flags.exportState));
        return;
      }
      const interrupted = new AbortController();
      const interrupt = (): void => interrupted.abort();
      process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
      try {
        await replay(folder, flags, writeOut, interrupted.signal);
      } finally {
        process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
      }
    });
}

/** Writes the states after a block of a recorded chain. @returns what was written, as a sentence */
function exportReplayedStates(folder: string, flags: ReplayFlags, wanted: string): string {
  const seqno = parseSeqno('--export-state', wanted);
  const splitDepth = /^\d$/.test(flags.splitDepth) ? Number(flags.splitDepth) : MAX_SPLIT_BITS + 1;
  if (splitDepth > MAX_SPLIT_BITS) {
    const problem = `--split-depth is "${flags.splitDepth}"; it must be a number from 0 to ${MAX_SPLIT_BITS}`;
    throw cliErrors.usage({ problem });
  }
  const out = resolve(flags.stateOut ?? `state-${seqno}`);
  const { block, files, bytes } = exportStates(openReplay(folder, { to: seqno, head: null }), seqno, out, splitDepth);
  return `exported the states after block ${printPosition(block)} to ${out}: ${files.length} files, ${bytes} bytes\n`;
}

/** Validates all arguments, then runs the server until the signal. */
async function replay(
  folder: string,
  flags: ReplayFlags,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { host, port } = parseListen(flags.listen);
  const to = flags.to === undefined ? null : parseSeqno('--to', flags.to);
  const pace = flags.pace === undefined ? null : parsePace(flags.pace);
  const seed = flags.key === undefined ? randomBytes(32) : readSeed(flags.key);
  const ledger = openReplay(folder, { to, head: pace === null ? null : 1 });
  const unixTime = (): number => Math.floor(Date.now() / 1000);
  const methods = await startReplayGetMethods();
  try {
    const server = await startLiteserver(
      { host, port, seed },
      {
        ledger,
        clock: systemClock,
        unixTime,
        randomBytes: (size) => randomBytes(size),
        runGetMethod: methods.run,
        onFault: (error) => {
          if (!isTernError(error)) process.stderr.write(`tern replay: internal error: ${String(error)}\n`);
        },
      },
    );
    try {
      const reachable = host === '0.0.0.0' ? '127.0.0.1' : host;
      const address = { host: reachable, port: server.port, publicKey: server.publicKey };
      const config = globalConfig(address, ledger.zerostate);
      if (flags.configOut !== undefined) writeConfig(flags.configOut, config);
      write(config);
      const stopPace = pace === null ? () => {} : paceHead(ledger, pace, systemClock);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      stopPace();
    } finally {
      await server.close();
    }
  } finally {
    await methods.close();
  }
}

function parseListen(text: string): { readonly host: string; readonly port: number } {
  const match = /^(localhost|\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})$/.exec(text);
  const host = match?.[1] === 'localhost' ? '127.0.0.1' : match?.[1];
  const port = Number(match?.[2]);
  if (host === undefined || port > 65_535 || host.split('.').some((part) => Number(part) > 255)) {
    throw cliErrors.usage({
      problem: `--listen is "${text}"; it must be an IPv4 address and a port, such as 127.0.0.1:4443`,
    });
  }
  return { host, port };
}

/** `pk.ed25519#49682317 key:int256`, the prefix of node key files. */
const PRIVATE_KEY = '17236849';

/** Reads a key file: 32 bytes, or 36 with TL id; raw, hex or base64. */
function readSeed(file: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw cliErrors.file({ file, problem: `cannot be read: ${(error as Error).message}` }, error);
  }
  const text = new TextDecoder().decode(bytes).trim();
  for (const key of [bytes, fromHex(text), fromBase64(text)]) {
    if (key?.length === 32) return Uint8Array.from(key);
    if (key?.length === 36 && Buffer.from(key).toString('hex', 0, 4) === PRIVATE_KEY)
      return Uint8Array.from(key.subarray(4));
  }
  throw cliErrors.file({ file, problem: 'is not a private key: 32 bytes, raw, hex or base64' });
}

function writeConfig(file: string, config: string): void {
  try {
    writeFileSync(file, config);
  } catch (error) {
    throw cliErrors.file({ file, problem: `cannot be written: ${(error as Error).message}` }, error);
  }
}

/** Get methods of a liteserver, run in worker threads. */
export interface ReplayGetMethods {
  readonly run: RunGetMethod;
  close(): Promise<void>;
}

/** Starts a TVM pool; `close()` stops its threads. @throws tvm/not-started */
export async function startReplayGetMethods(): Promise<ReplayGetMethods> {
  const pool = new TvmPool({}, { clock: systemClock });
  try {
    await pool.start();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return {
    run: (run) => pool.runInContext(run),
    close: () => pool.close(),
  };
}
