/** What a log line says beside its message. */
export type LogFields = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** Where events go that somebody who runs the program may want to see. Messages are fixed texts; what varies is in fields. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
}

/** Says nothing. */
export const silentLogger: Logger = { info() {}, warn() {} };
