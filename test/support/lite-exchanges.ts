import { TlReader } from '#test/support/tl-reader.js';
import { readBytes } from '#test/support/vector-files.js';

/** One recorded question to a liteserver and its answer. */
export interface LiteExchange {
  /** Number of the line. */
  readonly n: number;
  /** `liteServer.getAccountState` */
  readonly function: string;
  readonly desc: string;
  /** Constructor of the answer: `liteServer.accountState`. */
  readonly result: string;
  /** The function with its arguments, without `liteServer.query` around it. */
  readonly request: Uint8Array;
  readonly response: Uint8Array;
}

/** The answered ones of a recording (JSON lines, compressed); errors and silences are left out. */
export function* readLiteExchanges(path: string): Generator<LiteExchange> {
  for (const line of Buffer.from(readBytes(path)).toString('utf8').split('\n')) {
    if (line === '') continue;
    const { n, function: name, desc, result, request, response } = JSON.parse(line) as Record<string, string>;
    if (response === null || result === 'liteServer.error' || result === null) continue;
    const query = new TlReader(base64(request!)).expect(0x798c06df).bytes();
    yield {
      n: Number(n),
      function: name!,
      desc: desc!,
      result: result!,
      request: query,
      response: base64(response!),
    };
  }
}

function base64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
