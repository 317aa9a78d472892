import { describe, expect, it } from 'vitest';
import { encodeBoxed, type TlConstructor } from '#formats/tl/constructor.js';
import { LiteServerAccountState, LiteServerError, LiteServerQuery, liteServerFunctions } from '#formats/tl/lite-api.js';
import { decodeLiteAnswer, decodeLiteQuery, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { isTernError } from '#kernel/tern-error.js';
import { type RecordedExchange, readLiteRecording } from '#test/support/lite-recording.js';
import { vectorPath } from '#test/support/vector-files.js';

type LiteFunction = (typeof liteServerFunctions)[number];

const functions = new Map<string, LiteFunction>(liteServerFunctions.map((each) => [each.name, each]));

interface Tally {
  /** Functions that were asked and answered with their result. */
  readonly answered: Set<string>;
  requests: number;
  answers: number;
  errors: number;
  /** Questions that the reference could not read either. */
  unreadable: number;
  silent: number;
}

/** What the reference says about a question that it cannot read; to one without liteServer.query it says nothing. */
const cannotRead =
  /^(Not enough data to read|Too much data to fetch|Unknown constructor found|Wrong vector length|Bool expected|Variable of type # can't be negative)/;

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function checkAll(exchanges: Iterable<RecordedExchange>): Tally {
  const tally: Tally = { answered: new Set(), requests: 0, answers: 0, errors: 0, unreadable: 0, silent: 0 };
  for (const exchange of exchanges) check(exchange, tally);
  return tally;
}

function check({ n, desc, request, response, result }: RecordedExchange, tally: Tally): void {
  const label = `${n} ${desc}`;
  const called = checkRequest(request, label);
  if (called === null) tally.unreadable++;
  else tally.requests++;
  if (response === null) {
    expect(called, label).toBeNull();
    tally.silent++;
    return;
  }
  const type = (called === null ? null : functions.get(called)) ?? liteServerFunctions[0];
  const answer = decodeLiteAnswer(type as { readonly result: TlConstructor }, response, LiteServerAccountState);
  if (answer.error !== null) {
    expect(result, label).toBe('liteServer.error');
    expect(sameBytes(encodeBoxed(LiteServerError, answer.error), response), label).toBe(true);
    // What the reference cannot read is refused here, and nothing else.
    expect(cannotRead.test(answer.error.message), label).toBe(called === null);
    tally.errors++;
    return;
  }
  expect(answer.name, label).toBe(result);
  const written = answer.name === LiteServerAccountState.name ? LiteServerAccountState : type.result;
  expect(sameBytes(encodeBoxed(written as TlConstructor, answer.value), response), label).toBe(true);
  tally.answers++;
  tally.answered.add(type.name);
}

/** Reads a question and writes it again; the name of the function, or null when it cannot be read. */
function checkRequest(request: Uint8Array, label: string): string | null {
  try {
    const { wait, call } = decodeLiteQuery(request);
    const called = functions.get(call.name) ?? LiteServerQuery;
    expect(called.name, label).toBe(call.name);
    const again = encodeLiteQuery(called as TlConstructor, call.value, wait);
    expect(sameBytes(again, request), label).toBe(true);
    return call.name;
  } catch (error) {
    expect(isTernError(error) && error.code.startsWith('tl/'), `${label}: ${error}`).toBe(true);
    return null;
  }
}

/** A recorded node did not let itself be asked about unfinished blocks, and took no message. */
const neverAnswered = ['liteServer.sendMessage', 'liteServer.nonfinal.getPendingShardBlocks'];

function unanswered({ answered }: Tally): string[] {
  return [...functions.keys()].filter((name) => !answered.has(name));
}

describe('the bytes of the reference liteserver', () => {
  it('are read and written again, a few of each function', () => {
    const tally = checkAll(readLiteRecording(vectorPath('tl/lite-exchanges.jsonl.gz')));
    expect(tally).toMatchObject({ requests: 253, answers: 111, errors: 161, unreadable: 22, silent: 3 });
    // A whole configuration is too large to be kept here.
    expect(new Set(unanswered(tally))).toEqual(new Set(['liteServer.getConfigAll', ...neverAnswered]));
  });
});

const recorded = vectorPath('collection/recorded-net/lite-queries.jsonl.br');

describe('the same, all that was recorded', () => {
  it('in recorded-net', () => {
    const tally = checkAll(readLiteRecording(recorded));
    expect(tally).toMatchObject({ requests: 2154, answers: 1892, errors: 289, unreadable: 30, silent: 3 });
    expect(unanswered(tally)).toEqual(neverAnswered);
  });
});
