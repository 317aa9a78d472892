import type { TernError } from '#kernel/errors/tern-error.js';

/** What a person at a terminal reads of an error: `tern: CODE: message. remedy`, always one line. */
export function errorLine(error: TernError): string {
  const sentence = /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  return `tern: ${error.code}: ${sentence} ${error.remedy}`.replace(/\s+/g, ' ').trim();
}
