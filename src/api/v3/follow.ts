import type { RawParameters } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { FOLLOW_PATH } from '#api/http/follow-url.js';
import type { HttpNetwork, RawReply, RawRequest, RawRoute } from '#api/http/http-api.js';
import { WaitingRequests } from '#api/http/waiting-requests.js';
import { v3Errors } from '#api/v3/errors.js';
import { decodeHash256 } from '#api/v3/parameters.js';
import { toBase64 } from '#kernel/bytes.js';
import { type Clock, pause } from '#kernel/clock.js';
import {
  type FollowedMessage,
  type FollowedStage,
  type MessageFollow,
  STAGES,
} from '#services/pending/message-follow.js';

/** What a request to follow a message waits for. */
interface FollowParameters {
  readonly hash: Uint8Array;
  readonly timeoutMs: number;
  /** The answer waits until the message is further than this; null: until nothing more will happen. */
  readonly after: FollowedStage | null;
}

export interface FollowRouteModules {
  /** Null: the network has no index, or follows no messages. */
  readonly followOf: (network: HttpNetwork) => MessageFollow | null;
  readonly clock: Clock;
}

const MOST_WAITING = { most: 4_096, mostOfClient: 256, what: 'follow messages' } as const;

/** Seconds. */
const DEFAULT_TIMEOUT = 30;
const LONGEST_TIMEOUT = 60;

/** A stream of events ends after so long: nodes forget a message after 600 s. */
const STREAM_MS = 660_000;

/** Proxies close connections on which nothing comes. */
const KEEP_ALIVE_MS = 15_000;

/** The route `GET /api/v3/follow/{hash}`: what became of a message, by long poll or, with `Accept: text/event-stream`, as events. */
export function followRoute({ followOf, clock }: FollowRouteModules): RawRoute {
  const waiting = new WaitingRequests(MOST_WAITING);
  return {
    path: `${FOLLOW_PATH}/*`,
    name: 'follow',
    verbs: ['GET'],
    style: 'plain',
    handle: async (request, reply) => {
      const given = parametersOf(request);
      const follow = followOf(request.network);
      if (follow === null) throw v3Errors['no-pending']({});
      const leave = waiting.enter(request.client);
      try {
        if (wantsEvents(request)) await stream(given, follow, request, reply, clock);
        else await poll(given, follow, request, reply, clock);
      } finally {
        leave();
      }
    },
  };
}

/** @throws http/bad-parameter, http/unknown-parameter, v3/parameter-value */
function parametersOf({ rest, query }: RawRequest): FollowParameters {
  for (const name of Object.keys(query)) {
    if (name !== 'timeout' && name !== 'after') {
      throw httpErrors['unknown-parameter']({ parameter: name.slice(0, 80), known: 'timeout, after' });
    }
  }
  const given = only(query, 'timeout') ?? String(DEFAULT_TIMEOUT);
  const timeout = /^\d{1,3}(\.\d{1,3})?$/.test(given) ? Number(given) : Number.NaN;
  if (!(timeout <= LONGEST_TIMEOUT)) {
    throw httpErrors['bad-parameter']({
      parameter: 'timeout',
      problem: `it must be seconds from 0 to ${LONGEST_TIMEOUT}`,
    });
  }
  const after = only(query, 'after');
  if (after !== null && !STAGES.includes(after as FollowedStage)) {
    throw httpErrors['bad-parameter']({ parameter: 'after', problem: `it must be one of ${STAGES.join(', ')}` });
  }
  return { hash: hashOf(rest), timeoutMs: timeout * 1_000, after: after as FollowedStage | null };
}

/** @throws http/bad-parameter */
function hashOf(text: string): Uint8Array {
  try {
    return decodeHash256(text);
  } catch (error) {
    const problem = 'it must be the hash of a message: 64 hexadecimal digits, or 44 characters of base64 or base64url';
    throw httpErrors['bad-parameter']({ parameter: 'hash', problem }, error);
  }
}

function only(query: RawParameters, name: string): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  throw httpErrors['bad-parameter']({ parameter: name, problem: 'it is given more than once' });
}

function wantsEvents({ headers }: RawRequest): boolean {
  return /(^|[\s,])text\/event-stream($|[\s;,])/i.test(headers.accept ?? '');
}

const NO_STORE = { 'Cache-Control': 'no-store' } as const;

/** @throws v3/message-unknown */
async function poll(
  { hash, timeoutMs, after }: FollowParameters,
  follow: MessageFollow,
  { signal }: RawRequest,
  reply: RawReply,
  clock: Clock,
): Promise<void> {
  let last: FollowedMessage | null = null;
  for await (const found of follow.follow(hash, clock.now() + timeoutMs, signal)) {
    last = found;
    if (after !== null && isBeyond(found, after)) break;
  }
  if (signal.aborted) throw signal.reason;
  if (last === null || last.stage === 'unknown') throw v3Errors['message-unknown']({ hash: toBase64(hash) });
  reply.send(200, { 'Content-Type': 'application/json', ...NO_STORE }, statusJson(last));
}

function isBeyond({ stage, isSettled }: FollowedMessage, after: FollowedStage): boolean {
  return isSettled || STAGES.indexOf(stage) > STAGES.indexOf(after);
}

async function stream(
  { hash }: FollowParameters,
  follow: MessageFollow,
  { signal, headers }: RawRequest,
  reply: RawReply,
  clock: Clock,
): Promise<void> {
  // A browser connects again after the end of a stream; this answer says that there is nothing more.
  if (headers['last-event-id'] === SETTLED_ID) {
    reply.send(204, { 'Content-Type': 'text/event-stream', ...NO_STORE }, '');
    return;
  }
  const response = reply.stream(200, {
    'Content-Type': 'text/event-stream',
    'X-Accel-Buffering': 'no',
    ...NO_STORE,
  });
  const ended = new AbortController();
  const keepAlive = async () => {
    while (!ended.signal.aborted) {
      await pause(KEEP_ALIVE_MS, clock, ended.signal);
      if (!ended.signal.aborted) response.write(': keep-alive\n\n');
    }
  };
  void keepAlive();
  try {
    for await (const found of follow.follow(hash, clock.now() + STREAM_MS, signal)) {
      const id = found.isSettled ? SETTLED_ID : found.stage;
      response.write(`event: status\nid: ${id}\ndata: ${statusJson(found)}\n\n`);
    }
  } finally {
    ended.abort();
    response.end();
  }
}

/** `Last-Event-ID` after the last event. */
const SETTLED_ID = 'settled';

/** What is known of a message, as JSON. Hashes in base64. */
function statusJson(found: FollowedMessage): string {
  const { stage, isSettled, external_hash, external_hash_norm, account, trace_id, mc_seqno } = found;
  const { transactions, failures, invalidation } = found;
  return JSON.stringify({
    status: stage,
    settled: isSettled,
    success: failures === null ? null : failures.length === 0,
    message_hash: base64OrNull(external_hash),
    message_hash_norm: base64OrNull(external_hash_norm),
    account: account?.toRaw().toUpperCase() ?? null,
    trace_id: base64OrNull(trace_id),
    mc_block_seqno: mc_seqno,
    transactions,
    failures: (failures ?? []).slice(0, MOST_FAILURES).map((failure) => ({
      account: failure.account.toRaw().toUpperCase(),
      transaction: toBase64(failure.hash),
      phase: failure.phase,
      exit_code: failure.exit_code,
      explanation: failure.explanation,
    })),
    exit_code: invalidation?.exit_code ?? null,
    problem: invalidation?.problem ?? null,
  });
}

const MOST_FAILURES = 16;

function base64OrNull(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : toBase64(bytes);
}
