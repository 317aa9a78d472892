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

/** Logs lines for people: `12:03:04 warn  message  name=value …`, in UTC. Values with spaces or other characters are as in JSON. */
export function textLogger({ level, to }: PinoLoggerOptions): ClosableLogger {
  const stream = destination({ dest: to, sync: false });
  stream.on('error', () => {});
  const write = (name: string, message: string, fields: LogFields = {}): void => {
    const values = Object.entries(writable(fields)).map(([field, value]) => `  ${field}=${valueText(value)}`);
    stream.write(`${new Date().toISOString().slice(11, 19)} ${name}  ${message}${values.join('')}\n`);
  };
  return {
    info: (message, fields) => (level === 'info' ? write('info', message, fields) : undefined),
    warn: (message, fields) => (level === 'silent' ? undefined : write('warn', message, fields)),
    close: () =>
      new Promise((resolve) => {
        stream.once('close', resolve).once('error', () => resolve());
        stream.end();
      }),
  };
}

function valueText(value: string | number | boolean | null): string {
  return typeof value === 'string' && /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value);
}

function writable(fields: LogFields = {}): Readonly<Record<string, string | number | boolean | null>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );
}
