import { AdnlMessageAnswer, AdnlMessageQuery, TcpPing, TcpPong } from '#formats/tl/adnl.js';
import { decodeBoxed, encodeBoxed, type TlConstructor } from '#formats/tl/constructor.js';
import {
  LiteServerError,
  LiteServerQuery,
  LiteServerQueryPrefix,
  LiteServerWaitMasterchainSeqno,
  liteServerFunctions,
} from '#formats/tl/lite-api.js';
import { decodeLiteQuery, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { bytesEqual } from '#kernel/bytes.js';
import type { TernError } from '#kernel/tern-error.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import type { Random } from '#test/fuzz/random.js';
import { readLiteRecording } from '#test/support/lite-recording.js';
import { vectorPath } from '#test/support/vector-files.js';

const recorded = [...readLiteRecording(vectorPath('tl/lite-exchanges.jsonl.gz'))];
const requests = recorded.map(({ request }) => request);
const answers = recorded.flatMap(({ response }) => (response === null ? [] : [response]));

const callables: readonly TlConstructor[] = [
  ...liteServerFunctions,
  LiteServerQuery,
  LiteServerQueryPrefix,
  LiteServerWaitMasterchainSeqno,
];
const results: readonly TlConstructor[] = [LiteServerError, ...liteServerFunctions.map(({ result }) => result)];
const messages: readonly TlConstructor[] = [AdnlMessageQuery, AdnlMessageAnswer, TcpPing, TcpPong];

const fromReading = (error: TernError) =>
  /^tl\/(underflow|left-over|unknown-constructor|vector-length|negative-number)$/.test(error.code);

/** What was read is written, and what was written is read as the same: writing has one form only. */
function expectStable(types: readonly TlConstructor[], bytes: Uint8Array): void {
  const written = writtenAgain(types, bytes);
  if (written.length > bytes.length + 2 * bytes.length) throw new RangeError('writing takes more bytes than reading');
  if (!bytesEqual(writtenAgain(types, written), written)) throw new RangeError('written twice, it differs');
}

function writtenAgain(types: readonly TlConstructor[], bytes: Uint8Array): Uint8Array {
  const { name, value } = decodeBoxed(bytes, ...types) as { name: string; value: unknown };
  return encodeBoxed(types.find((type) => type.name === name) as TlConstructor, value);
}

/** A damaged value, or one that is read as another type. */
function damaged(random: Random, samples: readonly Uint8Array[], types: readonly TlConstructor[]): Uint8Array {
  const bytes = random.chance(1, 8) ? random.bytes(random.below(200)) : mutate(random.pick(samples), random);
  if (bytes.length >= 4 && random.chance(1, 4)) {
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, random.pick(types).id, true);
  }
  return bytes;
}

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'tl-answer',
    make: (random) => damaged(random, answers, results),
    run: (input) => expectStable(results, input),
    allowed: fromReading,
  },
  {
    name: 'tl-query',
    make: (random) => {
      const data = damaged(
        random,
        requests.map((request) => request.subarray(request.length > 256 ? 8 : 5)),
        callables,
      );
      return random.chance(1, 4)
        ? mutate(random.pick(requests), random)
        : encodeBoxed(LiteServerQuery, { data: data.subarray(0, data.length & ~3) });
    },
    run: (input) => {
      const { wait, call, bytes } = decodeLiteQuery(input);
      const called = callables.find(({ name }) => name === call.name) as TlConstructor;
      const again = decodeLiteQuery(encodeLiteQuery(called, call.value, wait));
      if (again.call.name !== call.name) throw new RangeError(`${call.name} became ${again.call.name}`);
      expectStable(callables, bytes);
    },
    allowed: fromReading,
  },
  {
    name: 'tl-adnl-message',
    make: (random) => {
      const query_id = random.bytes(32);
      const sample = random.chance(1, 2)
        ? encodeBoxed(AdnlMessageQuery, { kind: 'adnl.message.query', query_id, query: random.pick(requests) })
        : encodeBoxed(AdnlMessageAnswer, { kind: 'adnl.message.answer', query_id, answer: random.pick(answers) });
      return damaged(random, [sample], messages);
    },
    run: (input) => expectStable(messages, input),
    allowed: fromReading,
  },
];
