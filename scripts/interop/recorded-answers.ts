import { readBytes } from '#test/support/vector-files.js';
import type { Json, JsonObject } from './tonlib-session.js';

/** What the reference tonlib was asked, and what it answered, while the chain was still growing. */
export interface RecordedAnswer {
  readonly n: number;
  readonly group: string;
  readonly desc: string;
  readonly request: JsonObject;
  readonly response: JsonObject | null;
}

/** A recorded exchange in a form that has the same answer at any later time. */
export interface Question {
  readonly n: number;
  /** Which check it belongs to. */
  readonly check: string;
  readonly desc: string;
  readonly request: JsonObject;
  readonly expected: JsonObject;
}

export function readRecordedAnswers(path: string): RecordedAnswer[] {
  const lines = Buffer.from(readBytes(path)).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** Recorded groups that ask what this server has no answer to, or what depends on the time of asking. */
const LEFT_OUT: readonly string[] = [
  'sync', // the head of that moment
  'mc', // the same, with the clock of the server
  'queue', // queues at the head of that moment
  'fee', // storage fees depend on the clock of the client
  'dns', // tonlib lets the server run the get-method
  'send', // messages to a chain that is alive
  'errors', // requests that tonlib itself refuses
];

/** Functions that read the newest state, and can be asked to read an older one. */
const OF_HEAD: readonly string[] = [
  'raw.getAccountState',
  'getAccountState',
  'getShardAccountCell',
  'smc.load',
  'getConfigAll',
  'getConfigParam',
];

/**
 * The recorded exchanges as questions about the past: what was asked of the head is asked of the block that was the head
 * then, which the answers to account states name.
 */
export function questionsOf(recorded: readonly RecordedAnswer[]): Question[] {
  const questions: Question[] = [];
  let head: Json | undefined;
  for (const [i, { n, group, desc, request, response }] of recorded.entries()) {
    const own = blockOf(response);
    if (own !== undefined && request['@type'] !== 'withBlock') head = own;
    if (LEFT_OUT.includes(group) || response === null) continue;
    const type = String(request['@type']);
    const loaded =
      type === 'smc.load' ? blockOf(recorded.slice(i, i + 40).find(isStateOfLoaded)?.response ?? null) : own;
    const question = { n, desc, expected: response, check: checkName(group, request) };
    if (OF_HEAD.includes(type)) {
      const id = loaded ?? head;
      if (id === undefined) throw new Error(`nothing says which block was the head at exchange ${n}`);
      questions.push({ ...question, request: { '@type': 'withBlock', id, function: request } });
    } else if (type === 'blocks.getShardBlockProof' && request.from === undefined && response.from !== undefined) {
      questions.push({ ...question, request: { ...request, mode: 1, from: response.from } });
    } else questions.push({ ...question, request });
  }
  return questions;
}

function blockOf(response: JsonObject | null): Json | undefined {
  return response?.block_id;
}

function isStateOfLoaded({ request }: RecordedAnswer): boolean {
  return request['@type'] === 'smc.getRawFullAccountState';
}

function checkName(group: string, request: JsonObject): string {
  const inner = request.function as JsonObject | undefined;
  return `${group}: ${inner === undefined ? request['@type'] : `${inner['@type']} at a block`}`;
}
