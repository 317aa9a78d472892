import { readBytes } from '#test/support/vector-files.js';

/** One recorded question to a liteserver, as its bytes were. */
export interface RecordedExchange {
  /** Number of the line in the whole recording. */
  readonly n: number;
  /** `liteServer.getAccountState`; `malformed` when it is no call. */
  readonly function: string;
  readonly desc: string;
  /** The `query` of the adnl.message.query. */
  readonly request: Uint8Array;
  /** The `answer` of the adnl.message.answer; null when the server stayed silent. */
  readonly response: Uint8Array | null;
  /** Constructor of the answer: `liteServer.accountState`. */
  readonly result: string | null;
}

/** All of a recording (JSON lines, compressed), errors and silences included. */
export function* readLiteRecording(path: string): Generator<RecordedExchange> {
  for (const line of Buffer.from(readBytes(path)).toString('utf8').split('\n')) {
    if (line === '') continue;
    const { n, function: name, desc, request, response, result } = JSON.parse(line);
    yield {
      n,
      function: name,
      desc,
      request: base64(request),
      response: response === null ? null : base64(response),
      result,
    };
  }
}

function base64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
