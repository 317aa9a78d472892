import { decodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerError, liteServerFunctions } from '#formats/tl/lite-api.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { answerChecks, checkAnswer, latestBlock } from '#test/support/lite-answers.js';
import { TlError } from '#test/support/tl-reader.js';

/** How two answers to one question agree; `null` when they do not. */
export type Agreement = 'bytes' | 'values' | 'error code' | null;

/** Proofs: they may leave out other parts and still prove the same. */
const PROOF_FIELDS: ReadonlySet<string> = new Set([
  'proof',
  'shard_proof',
  'state_proof',
  'config_proof',
  'data_proof',
  'header_proof',
  'dest_proof',
  'client_mc_state_proof',
  'mc_block_proof',
  'header',
  'prev_header',
]);

/** What says when and by whom it was answered. */
const SERVER_FIELDS: ReadonlySet<string> = new Set(['now', 'capabilities']);

/** A recorded question (without the envelope) and what is answered to it. */
export interface AnsweredQuestion {
  readonly n: number;
  readonly function: string;
  readonly desc: string;
  readonly request: Uint8Array;
}

const results = [...new Set(liteServerFunctions.map(({ result }) => result)), LiteServerError];

/** Compares an answer with the recorded one: the same bytes, or the same values proven, or errors of the same code. */
export function compareAnswers(question: AnsweredQuestion, recorded: Uint8Array, answer: Uint8Array): Agreement {
  if (bytesEqual(recorded, answer)) return 'bytes';
  const a = decodeBoxed(recorded, ...results) as { readonly name: string; readonly value: object };
  const b = decodeBoxed(answer, ...results) as { readonly name: string; readonly value: object };
  if (a.name !== b.name) return null;
  if (a.name === LiteServerError.name) {
    return (a.value as LiteServerError).code === (b.value as LiteServerError).code ? 'error code' : null;
  }
  const differing = new Set<string>();
  collectDifferences(a.value, b.value, '', differing);
  const proofs = [...differing].filter((field) => !SERVER_FIELDS.has(field));
  if (!proofs.every((field) => PROOF_FIELDS.has(field))) return null;
  if (proofs.length === 0 || answerChecks[question.function] === undefined) return 'values';
  const proven = provenBy(question, recorded);
  return proven === 'no proof' || proven === provenBy(question, answer) ? 'values' : null;
}

/** Names of the fields in which two values differ, wherever they are. */
function collectDifferences(a: unknown, b: unknown, field: string, found: Set<string>): void {
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    if (!bytesEqual(a, b)) found.add(field);
  } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    a.forEach((item, i) => void collectDifferences(item, b[i], field, found));
  } else if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null && !Array.isArray(a)) {
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
      collectDifferences(a[name as keyof typeof a], b[name as keyof typeof b], name, found);
    }
  } else if (a !== b) {
    found.add(field);
  }
}

/** What an answer proves, or why it proves nothing. */
export function provenBy(question: AnsweredQuestion, response: Uint8Array): string {
  const { function: name, request } = question;
  const trusted = latestBlock({ ...question, result: '', response });
  try {
    return checkAnswer(name, request, response, trusted);
  } catch (error) {
    if (error instanceof TlError || isTernError(error)) return `refused: ${error.message}`;
    throw error;
  }
}

/** The code of `liteServer.error`; null for other answers. */
export function errorCodeOf(answer: Uint8Array): number | null {
  const { name, value } = decodeBoxed(answer, ...results);
  return name === LiteServerError.name ? (value as LiteServerError).code : null;
}

/** For messages: an answer as text. */
export function printAnswer(answer: Uint8Array): string {
  const { name, value } = decodeBoxed(answer, ...results);
  const text = JSON.stringify(value, (_, field: unknown) => {
    if (typeof field === 'bigint') return String(field);
    return field instanceof Uint8Array ? toHex(field).slice(0, 128) : field;
  });
  return `${name} ${text.slice(0, 1000)}`;
}
