import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/** A body, and what the reference service of API v3 shows for it. */
interface RecordedBody {
  /** A bag of cells in base64. */
  readonly body: string;
  readonly opcode_name: string | null;
  readonly decoded: unknown;
}

/** A request to `/decode` and its answer. */
interface RecordedDecoding {
  readonly opcodes: readonly string[];
  readonly bodies: readonly string[];
  readonly answer: unknown;
}

/** The lines of a file, each parsed. */
export function readJsonLines<T>(path: string): T[] {
  const lines = new TextDecoder().decode(readBytes(path)).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}

export const recordedBodies = readJsonLines<RecordedBody>(vectorPath('bodies/message-contents.jsonl.gz'));
export const recordedDecodings = readJsonLines<RecordedDecoding>(vectorPath('bodies/decode-answers.jsonl.gz'));

export function bodyCell(body: string): Cell {
  return parseBocRoot(new Uint8Array(Buffer.from(body, 'base64')));
}
