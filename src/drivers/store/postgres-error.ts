import pg from 'pg';
import { storeErrors } from '#drivers/store/errors.js';
import { isTernError, type TernError } from '#kernel/errors/tern-error.js';

/** Errors that have nothing to say but what the database said. */
type Name =
  | 'unreachable'
  | 'connection-refused'
  | 'too-many-connections'
  | 'conflict'
  | 'disk-full'
  | 'out-of-memory'
  | 'read-only'
  | 'damaged'
  | 'no-rights';

/** Which error of ours an SQLSTATE is; two or three characters stand for all that begin so. */
const STATES: Readonly<Record<string, Name>> = {
  '08': 'unreachable',
  '25006': 'read-only',
  '28': 'connection-refused',
  '3D000': 'connection-refused',
  '40': 'conflict',
  '42501': 'no-rights',
  '53100': 'disk-full',
  '53200': 'out-of-memory',
  '53300': 'too-many-connections',
  '55P03': 'conflict',
  '57P': 'unreachable',
  '58': 'damaged',
  XX001: 'damaged',
  XX002: 'damaged',
};

const CANCELLED = '57014';

/** What node-postgres says, without any code, when a connection is lost. */
const LOST =
  /^Connection terminated|^timeout expired|connection error and is not queryable|was closed and is not queryable/;

/** The same, when the server will not have us. */
const REFUSED = /^SASL|SSL|certificate/i;

/** After these the same work may succeed later, without anything being changed. */
const TRANSIENT: ReadonlySet<string> = new Set([
  storeErrors.unreachable.code,
  storeErrors['commit-unknown'].code,
  storeErrors['too-many-connections'].code,
  storeErrors['pool-exhausted'].code,
  storeErrors.conflict.code,
  storeErrors['disk-full'].code,
  storeErrors['out-of-memory'].code,
]);

/** What a query threw as an error of ours, if it came from the database or the way to it; anything else as it is. */
export function storeError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) return errorOfState(error);
  if (isTernError(error) || !(error instanceof Error)) return error;
  const isLost = LOST.test(error.message) || ('syscall' in error && 'errno' in error);
  return isLost ? storeErrors.unreachable({ problem: problemOf(error) }, error) : error;
}

/** The error of ours for whatever connecting threw. */
export function connectError(error: unknown): TernError {
  const known = storeError(error);
  if (isTernError(known)) return known;
  const problem = problemOf(error);
  return storeErrors[REFUSED.test(problem) ? 'connection-refused' : 'unreachable']({ problem }, error);
}

/** Whether the same work may succeed when it is done again later. */
export function isTransient(error: unknown): boolean {
  return isTernError(error) && TRANSIENT.has(error.code);
}

function errorOfState(error: pg.DatabaseError): TernError {
  const problem = problemOf(error);
  const state = error.code ?? '';
  if (state === CANCELLED) return storeErrors.cancelled({ reason: problem }, error);
  const name = STATES[state] ?? STATES[state.slice(0, 3)] ?? STATES[state.slice(0, 2)];
  return name === undefined ? storeErrors.query({ state, problem }, error) : storeErrors[name]({ problem }, error);
}

function problemOf(error: unknown): string {
  // The error of a host with several addresses, none of which answers, has no text of its own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(problemOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  const detail = error instanceof pg.DatabaseError ? error.detail : undefined;
  return detail === undefined ? error.message : `${error.message} (${detail})`;
}
