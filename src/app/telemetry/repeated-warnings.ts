import type { ClosableLogger } from '#app/telemetry/pino-logger.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import type { LogFields } from '#kernel/logger.js';

/** Fields that tell one occurrence of a warning from another; all other texts tell what kind of warning it is. */
const OF_ONE_OCCURRENCE: ReadonlySet<string> = new Set(['request', 'client', 'key', 'profile', 'method', 'remedy']);

/** Texts that vary with each occurrence where there is an error code. */
const EXPLAINED_BY_CODE: ReadonlySet<string> = new Set(['problem', 'reason']);

/** Kinds of one message that are written in full in an interval, and that a summary names. */
const MAX_KINDS = 20;

/** Longest description of a kind in a summary, in characters. */
const MAX_KIND_LENGTH = 120;

/** The kinds of a message in the interval under way, with how often each occurred again. */
interface Repetitions {
  readonly again: Map<string, number>;
  cancel: CancelSchedule;
}

/**
 * A logger that writes a warning in full when it occurs first, and while it goes on, one line per interval with how often it
 * occurred: `{"message":"request failed","repeated":412,"seconds":30,"kinds":"lite/unanswered dev /api/v2 getHead: 400; …"}`. An
 * outage fails every request, and its log must not fill the disk. Warnings are the same when they have the same message, code,
 * endpoint and other texts; numbers, and what belongs to one request, do not count.
 *
 * @param intervalMs 0: every warning is written
 */
export function withoutRepeats(logger: ClosableLogger, intervalMs: number, clock: Clock): ClosableLogger {
  if (intervalMs === 0) return logger;
  const messages = new Map<string, Repetitions>();

  const summarize = (message: string, { again }: Repetitions): void => {
    let repeated = 0;
    for (const count of again.values()) repeated += count;
    if (repeated === 0) return;
    const most = [...again].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
    const kinds = most.map(([kind, count]) => `${kind.slice(0, MAX_KIND_LENGTH)}: ${count}`).join('; ');
    logger.warn(message, { repeated, seconds: intervalMs / 1000, kinds });
  };

  const endInterval = (message: string, repetitions: Repetitions): void => {
    summarize(message, repetitions);
    const { again } = repetitions;
    for (const [kind, count] of again) {
      // What did not occur again is written in full when it comes back.
      if (count === 0) again.delete(kind);
      else again.set(kind, 0);
    }
    if (again.size === 0) messages.delete(message);
    else repetitions.cancel = clock.schedule(intervalMs, () => endInterval(message, repetitions));
  };

  return {
    info: (message, fields) => logger.info(message, fields),
    warn: (message, fields = {}) => {
      let repetitions = messages.get(message);
      if (repetitions === undefined) {
        const begun: Repetitions = { again: new Map(), cancel: () => {} };
        begun.cancel = clock.schedule(intervalMs, () => endInterval(message, begun));
        messages.set(message, begun);
        repetitions = begun;
      }
      const { again } = repetitions;
      const exact = kindOf(fields);
      const kind = again.has(exact) || again.size < MAX_KINDS ? exact : 'others';
      const before = again.get(kind);
      again.set(kind, before === undefined && kind !== 'others' ? 0 : (before ?? 0) + 1);
      if (before === undefined && kind !== 'others') logger.warn(message, fields);
    },
    close: () => {
      for (const [message, repetitions] of messages) {
        repetitions.cancel();
        summarize(message, repetitions);
      }
      messages.clear();
      return logger.close();
    },
  };
}

/** The texts of a warning that make it the same as another one, its code first. */
function kindOf(fields: LogFields): string {
  const { code = null } = fields;
  const texts = code === null ? [] : [String(code)];
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'code' || typeof value !== 'string' || OF_ONE_OCCURRENCE.has(name)) continue;
    if (code === null || !EXPLAINED_BY_CODE.has(name)) texts.push(value);
  }
  return texts.join(' ');
}
