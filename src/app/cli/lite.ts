import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { cliErrors } from '#app/cli/errors.js';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { LitePool } from '#drivers/lite/pool.js';
import { statusPage } from '#drivers/lite/status.js';
import { systemClock } from '#kernel/clock/system-clock.js';

interface StatusOptions {
  readonly network: string;
  readonly wait: string;
}

/** `tern lite`: about the liteservers of a network. */
export function liteCommand(): Command {
  const lite = new Command('lite').description('about the liteservers of a network');
  lite.addCommand(statusCommand());
  return lite;
}

function statusCommand(): Command {
  return new Command('status')
    .description(
      'show how each server of a network config is: health, newest block, speed, clock, how far back it goes',
    )
    .requiredOption('-n, --network <file>', 'the network config (global.config.json)')
    .option('-w, --wait <seconds>', 'how long to wait for servers at most', '10')
    .action(async (options: StatusOptions, command: Command) => {
      const write = command.configureOutput().writeOut ?? ((text: string) => void process.stdout.write(text));
      const waitMs = Number(options.wait) * 1000;
      if (!(waitMs > 0 && waitMs <= 3_600_000)) {
        throw cliErrors.usage({ problem: `--wait is "${options.wait}"; accepted is a number of seconds up to 3600` });
      }
      const { servers } = parseGlobalConfig(readNetwork(options.network), options.network);
      const modules = { clock: systemClock, unixTimeMs: Date.now, random: Math.random, randomBytes };
      const pool = new LitePool({ servers }, modules);
      pool.start();
      try {
        await pool.whenSettled(waitMs);
        const metrics = pool.metrics();
        write(statusPage(metrics));
        if (metrics.head_seqno > 0) return;
        throw cliErrors['no-server']({ file: options.network, servers: servers.length });
      } finally {
        await pool.close();
      }
    });
}

function readNetwork(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw cliErrors.file({ file, problem: `cannot be read: ${(error as Error).message}` }, error);
  }
}
