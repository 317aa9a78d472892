import type { IncomingHttpHeaders } from 'node:http';
import { Type } from '@sinclair/typebox';
import type { RawParameters } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi } from '#api/http/http-api.js';
import { requestSwitch } from '#api/http/parameters.js';
import { WaitingRequests } from '#api/http/waiting-requests.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { type Link, LinkedList } from '#kernel/linked-list.js';

const MIN_SEQNO_HEADER = 'X-Tern-Min-Seqno';
const MIN_SEQNO_FIELD = MIN_SEQNO_HEADER.toLowerCase();
const MIN_SEQNO_PARAMETER = 'min_mc_seqno';
const MAX_SEQNO = 0x7fff_ffff;

/** How fresh the answer to a request has to be, as a header or a query parameter of any method. */
export const minSeqnoSwitch = requestSwitch({
  header: MIN_SEQNO_HEADER,
  query: MIN_SEQNO_PARAMETER,
  schema: Type.Integer({
    description:
      'A masterchain seqno that the answer has to include, so that a client reads what it has seen or written elsewhere. The request ' +
      'waits until the data reach it, for as long as it may take at most; then the answer is 409.',
    format: 'int32',
    minimum: 0,
    maximum: MAX_SEQNO,
  }),
  byDefault: null,
});

/** Removes the parameter from a query. The header takes precedence. @returns null when there is none. @throws http/bad-parameter */
export function takeMinSeqno(headers: IncomingHttpHeaders, query: RawParameters): number | null {
  const inHeader = headers[MIN_SEQNO_FIELD];
  const inQuery = query[MIN_SEQNO_PARAMETER];
  if (inQuery !== undefined) delete query[MIN_SEQNO_PARAMETER];
  const given = inHeader ?? inQuery;
  if (given === undefined || given === '') return null;
  const seqno = typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN;
  if (seqno <= MAX_SEQNO) return seqno;
  const parameter = inHeader === undefined ? MIN_SEQNO_PARAMETER : MIN_SEQNO_HEADER;
  const problem = `it must be one masterchain seqno, a whole number from 0 to ${MAX_SEQNO}`;
  throw httpErrors['bad-parameter']({ parameter, problem });
}

/** Who waits for what. */
export interface FreshnessWait {
  readonly api: AnyHttpApi;
  readonly group: string | null;
  readonly seqno: number;
  /** Time of the clock. */
  readonly until: number;
  readonly client: string;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
}

interface Waiter extends FreshnessWait {
  readonly leave: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  place: Link<Waiter> | null;
}

const MOST_WAITING = { most: 2_000, mostOfClient: 200, what: 'wait for a block' } as const;

/** Masterchain blocks that no network makes while a request waits. */
const MOST_AHEAD = 1_000;

/** While anybody waits, freshness is looked at so often. */
const LOOK_MS = 5;

/** Holds requests until the data of their API are fresh enough. */
export class FreshnessWaits {
  readonly #clock: Clock;
  readonly #waiting = new LinkedList<Waiter>();
  readonly #requests = new WaitingRequests(MOST_WAITING);
  #cancelLook: CancelSchedule | null = null;
  /** Requests that had to wait, and those that waited in vain. */
  waited = 0;
  expired = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** @throws http/not-fresh when the time has passed or cannot suffice, http/overloaded, http/client-left */
  wait(wanted: FreshnessWait): Promise<void> | undefined {
    if (isReached(wanted)) return undefined;
    if (isOutOfReach(wanted)) throw notFresh(wanted);
    const { client, signal } = wanted;
    const leave = this.#requests.enter(client);
    this.waited++;
    return new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { ...wanted, leave, resolve, reject, place: null };
      waiter.place = this.#waiting.add(waiter);
      signal.addEventListener('abort', () => this.#end(waiter, () => reject(httpErrors['client-left']({}))), {
        once: true,
      });
      this.#look();
    });
  }

  #look(): void {
    this.#cancelLook?.();
    this.#cancelLook = null;
    const now = this.#clock.now();
    for (const waiter of [...this.#waiting]) {
      if (isReached(waiter)) {
        this.#end(waiter, waiter.resolve);
        continue;
      }
      waiter.api.hasten?.(waiter.group);
      if (now >= waiter.until) {
        this.expired++;
        this.#end(waiter, () => waiter.reject(notFresh(waiter)));
      }
    }
    if (this.#waiting.size > 0) this.#cancelLook = this.#clock.schedule(LOOK_MS, () => this.#look());
  }

  #end(waiter: Waiter, how: () => void): void {
    if (!this.#waiting.remove(waiter.place)) return;
    waiter.leave();
    how();
  }
}

function isReached({ api, group, seqno }: FreshnessWait): boolean {
  const freshness = api.freshness?.(group);
  return freshness === undefined || freshness.mcSeqno >= seqno;
}

/** Whether a known head is further away than any request may wait. */
function isOutOfReach({ api, group, seqno }: FreshnessWait): boolean {
  const { mcSeqno } = api.freshness!(group);
  return mcSeqno > 0 && seqno - mcSeqno > MOST_AHEAD;
}

function notFresh({ api, group, seqno: wanted }: FreshnessWait): Error {
  const { mcSeqno: seqno, lagMs } = api.freshness!(group);
  return httpErrors['not-fresh']({ wanted, seqno, lagMs: lagMs === null ? null : Math.round(lagMs) });
}
