import { destination, pino, stdTimeFunctions } from 'pino';
import type { LogFields, Logger } from '#kernel/logger.js';

export interface PinoLoggerOptions {
  readonly level: 'info' | 'warn' | 'silent';
  /** An open file descriptor: 2 is standard error. */
  readonly to: number;
}

/** A logger that must be closed to flush its output. */
export interface ClosableLogger extends Logger {
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

/** Logs JSON lines: `{"level":"warn","time":"2026-…","message":"…",…fields}`. Bigints are written as strings. */
export function pinoLogger({ level, to }: PinoLoggerOptions): ClosableLogger {
  const stream = destination({ dest: to, sync: false });
  // The reader of the log is gone; the error cannot be reported.
  stream.on('error', () => {});
  const lines = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return {
    info: (message, fields) => lines.info(writable(fields), message),
    warn: (message, fields) => lines.warn(writable(fields), message),
    close: () =>
      new Promise((resolve) => {
        stream.once('close', resolve).once('error', () => resolve());
        stream.end();
      }),
  };
}

function writable(fields: LogFields = {}): Readonly<Record<string, string | number | boolean | null>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );
}
