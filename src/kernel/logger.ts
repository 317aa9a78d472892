/** Structured fields of a log line. */
export type LogFields = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** Receives events of interest to an operator. Messages are fixed texts; variable data goes into the fields. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
}

/** Discards everything. */
export const silentLogger: Logger = { info() {}, warn() {} };
