import { liteErrors } from '#drivers/lite/errors.js';
import type { LiteRequest, LiteSource, Need } from '#drivers/lite/lite-source.js';
import type { TlConstructor } from '#formats/tl/constructor.js';
import { decodeLiteAnswer, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { isTernError } from '#kernel/tern-error.js';

/** A server without a network: bytes of `liteServer.query` to bytes of the answer. */
export type DirectServer = (query: Uint8Array) => Promise<Uint8Array>;

/** A question as it came to a server. */
export interface AskedQuestion {
  readonly server: number;
  readonly fn: string;
  readonly need: Need;
}

/** What a server was found to have done wrong. */
export interface Fault {
  readonly server: number;
  readonly code: string;
  readonly message: string;
}

const MISSING = 651;
const EXPIRED = 652;

/**
 * A source that asks servers in their order: the next one when one does not have the answer, or its answer is not true.
 * Nothing is cached, and nobody is left out for what he did before.
 */
export class DirectSource implements LiteSource {
  readonly #servers: readonly DirectServer[];
  readonly asked: AskedQuestion[] = [];
  readonly faults: Fault[] = [];
  /** What servers claim to be the newest block. */
  headSeqno = 0;

  constructor(...servers: readonly DirectServer[]) {
    this.#servers = servers;
  }

  async query<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>): Promise<Value> {
    const { fn, query, waitSeqno } = request;
    const wait = waitSeqno === undefined ? null : { seqno: waitSeqno, timeout_ms: 200 };
    const bytes = encodeLiteQuery(fn, query as never, wait);
    let failure: Error = liteErrors.unanswered({ function: fn.name, afterMs: 0, tried: 'no server' });
    for (const [server, answer] of this.#servers.entries()) {
      this.asked.push({ server, fn: fn.name, need: request.need });
      try {
        return request.verify(read(fn, await answer(bytes), server));
      } catch (error) {
        if (!isTernError(error)) throw error;
        if (error.class === 'upstream') this.faults.push({ server, code: error.code, message: error.message });
        else if (error.code !== liteErrors['not-available'].code) throw error;
        failure = error.class === 'upstream' ? unanswered(fn.name, error) : error;
      }
    }
    throw failure;
  }

  fanOut<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>): Promise<Value> {
    return this.query(request);
  }
}

function unanswered(name: string, error: Error): Error {
  return liteErrors.unanswered({ function: name, afterMs: 0, tried: error.message }, error);
}

/** Bytes that cannot be read are the server's fault. */
function read<Query, Answer>(fn: LiteRequest<Query, Answer, unknown>['fn'], bytes: Uint8Array, server: number): Answer {
  const answer = decoded(fn, bytes, server);
  if (answer.error === null) return answer.value as Answer;
  const { code, message } = answer.error;
  if (code === MISSING || code === EXPIRED) {
    throw liteErrors['not-available']({ function: fn.name, tried: message });
  }
  throw liteErrors['answer-error']({ server: String(server), function: fn.name, code, text: message });
}

function decoded(fn: { readonly name: string; readonly result: TlConstructor }, bytes: Uint8Array, server: number) {
  try {
    return decodeLiteAnswer(fn, bytes);
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw liteErrors['bad-answer']({ server: String(server), function: fn.name, problem: error.message }, error);
  }
}
