import type { ClaimedMetadata, MetadataOutcome } from '#drivers/store/write/metadata-queue.js';
import { isTernError, type TernError } from '#kernel/errors/tern-error.js';
import { metadataErrors } from '#services/metadata/errors.js';
import { RARELY_SECONDS, retrySeconds, spread } from '#services/metadata/retry-times.js';

/** Codes of failures that lie in the server or the way to it, and not in what it says of one token. */
const NO_ANSWER: ReadonlySet<string> = new Set([
  metadataErrors.unresolved.code,
  metadataErrors.unreachable.code,
  metadataErrors.time.code,
]);

/** Statuses with which servers say that they are asked too much, or cannot answer. */
const NOT_NOW: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A failure as an error of ours. */
export function metadataError(error: unknown): TernError {
  if (isTernError(error)) return error;
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return metadataErrors.unexpected({ problem }, error);
}

/** What is written of an attempt that failed. @param now unix seconds */
export function failedOutcome(
  row: ClaimedMetadata,
  { code, class: kind, message }: TernError,
  now: number,
  random: () => number,
): MetadataOutcome {
  const seconds = kind === 'caller' ? RARELY_SECONDS : retrySeconds(row.attempts);
  const failure = { code, message: storable(message) };
  return { ...row, result: 'failed', failure, next: now + spread(seconds, random) };
}

/** Whether a host that gave this error answers at all. */
export function hostAnswers({ code, data }: TernError): boolean {
  if (code === metadataErrors.status.code) return !NOT_NOW.has(Number(data.status));
  return !NO_ANSWER.has(code);
}

/** What JSON of PostgreSQL has a place for; servers choose parts of messages. */
function storable(message: string): string {
  return message
    .slice(0, 1_000)
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\0', '');
}
