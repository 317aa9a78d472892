import type { Logger } from '#kernel/observe/logger.js';

/** A logger that says in every line what it is about. */
export function withField(logger: Logger, name: string, value: string): Logger {
  return {
    info: (message, fields) => logger.info(message, { [name]: value, ...fields }),
    warn: (message, fields) => logger.warn(message, { [name]: value, ...fields }),
  };
}
