import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { type Command, Option } from 'commander';
import { endBySignal, startWatchdog } from '#app/cli/watchdog.js';
import type { metadataSettings } from '#app/config/index-settings.js';
import { flagOf, type Setting, type SettingTable, type SettingValues, variableOf } from '#app/config/setting.js';
import type { ServeSettings } from '#app/config/settings.js';
import type { Environment } from '#app/service/environment.js';
import type { NetworkIndexOptions } from '#app/service/network-index.js';
import { type ClosableLogger, pinoLogger, textLogger } from '#app/telemetry/pino-logger.js';
import { withoutRepeats } from '#app/telemetry/repeated-warnings.js';
import { systemClock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';

/** Environment variables of the process. */
export type CliEnvironment = Readonly<Record<string, string | undefined>>;

/** System clock and randomness. */
export function systemEnvironment(logger: Logger): Environment {
  return {
    clock: systemClock,
    unixTimeMs: Date.now,
    random: Math.random,
    randomBytes,
    logger,
  };
}

const STANDARD_ERROR = 2;

/** Longest text of a log field. */
const MAX_TEXT = 2_000;

/**
 * Opens the log of a command that runs for long: JSON lines on standard error, repeated warnings aggregated. Until it is closed,
 * warnings of Node (such as of too many listeners) are lines of it, too.
 */
export function openCommandLog({
  logLevel,
  logInterval,
  logFormat,
}: Pick<ServeSettings, 'logLevel' | 'logInterval' | 'logFormat'>): ClosableLogger {
  const isText = logFormat === 'auto' ? process.stderr.isTTY === true : logFormat === 'text';
  const open = isText ? textLogger : pinoLogger;
  const logger = withoutRepeats(open({ level: logLevel, to: STANDARD_ERROR }), logInterval, systemClock);
  const before = process.listeners('warning');
  const onWarning = ({ name, message, stack }: Error): void =>
    logger.warn('Node warns', { code: name, problem: (stack ?? message).slice(0, MAX_TEXT) });
  process.removeAllListeners('warning').on('warning', onWarning);
  return {
    ...logger,
    close: () => {
      process.off('warning', onWarning);
      for (const listener of before) process.on('warning', listener);
      return logger.close();
    },
  };
}

/** Adds a flag for each setting of a table; values remain strings for `readSettings`. */
export function addSettings(command: Command, table: SettingTable): Command {
  for (const [name, setting] of Object.entries(table)) command.addOption(optionOf(name, setting));
  return command;
}

function optionOf(name: string, setting: Setting<unknown>): Option {
  const { fallback, meaning, placeholder, isList, isRequired } = setting;
  const notes = [
    ...(isRequired ? ['required'] : []),
    ...(isList ? ['may be repeated'] : []),
    ...(fallback.length > 0 ? [`default: ${fallback.join(', ')}`] : []),
    variableOf(name),
  ];
  const option = new Option(`${flagOf(name)} <${placeholder}>`, `${meaning} [${notes.join('; ')}]`);
  if (!isList) return option;
  return option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]);
}

/** Metadata options from the settings. */
export function metadataOptions(settings: SettingValues<typeof metadataSettings>): NetworkIndexOptions['metadata'] {
  const { metadata, metadataOverrides: overrides, metadataFetches: atOnce, ipfsGateway: gateway } = settings;
  return { fetches: metadata === 'on', gateway, atOnce, overrides };
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/** How often a process that npm has started looks whether its parent is still there. */
const PARENT_LOOK_MS = 500;

/**
 * Calls back when the parent of a process that npm has started is gone: npm passes SIGTERM to the shell in which it runs a script, and
 * shells end by it without passing it on.
 *
 * @returns stops looking
 */
function onLostParent({ npm_lifecycle_event: script }: CliEnvironment, lost: () => void): () => void {
  if (script === undefined) return () => {};
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    lost();
  }, PARENT_LOOK_MS).unref();
  return () => clearInterval(look);
}

/** A running part. It is closed on a signal, and also after `ended` settles. */
interface Closable {
  readonly ended?: Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a part and closes it at the first SIGINT or SIGTERM, or when npm, which has started the process, is gone; also during the
 * start. A second signal ends the process at once, by that signal; so does the watchdog when the main loop is stuck.
 *
 * @param start is given a signal that is aborted then; when it rejects with the reason, after it has closed what it has started, the
 *   process ends at once
 * @param onRunning called after the start, unless a signal arrived
 * @returns whether it ended without a signal
 */
export async function runUntilSignal<Running extends Closable>(
  environment: CliEnvironment,
  start: (signal: AbortSignal) => Promise<Running>,
  onRunning: (running: Running) => void,
): Promise<boolean> {
  let isEnding = false;
  let end = (): void => {};
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  const aborting = new AbortController();
  const watchdog = startWatchdog();
  const onSignal = (signal: NodeJS.Signals): void => {
    // Not by process.exit(), which waits for threads that are stuck.
    if (isEnding) endBySignal(signal, 128 + SIGNALS[signal as keyof typeof SIGNALS], watchdog);
    isEnding = true;
    watchdog.noteEnding();
    aborting.abort();
    end();
  };
  for (const signal of Object.keys(SIGNALS)) process.on(signal, onSignal);
  const stopLooking = onLostParent(environment, () => {
    // A service manager sends the signal to all processes of a service: then this one has got it, too.
    if (!isEnding) onSignal('SIGTERM');
  });
  try {
    const running = await start(aborting.signal).catch((error: unknown) => {
      if (!isEnding || error !== aborting.signal.reason) throw error;
      // What was waited for goes on until its own deadline.
      process.exit(0);
    });
    let hasEnded = false;
    try {
      if (!isEnding) {
        onRunning(running);
        const { ended } = running;
        await Promise.race(ended === undefined ? [ending] : [ending, ended]);
        hasEnded = !isEnding;
      }
    } finally {
      watchdog.noteEnding();
      await running.close();
    }
    return hasEnded;
  } finally {
    stopLooking();
    watchdog.stop();
    for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal);
  }
}
