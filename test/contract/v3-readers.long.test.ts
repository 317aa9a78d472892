import { afterAll, beforeAll, expect, it } from 'vitest';
import { v3IndexEndpoints } from '#api/v3/v3-api.js';
import { type Recording, readRecordings } from '#test/contract/recorded-calls.js';
import { v3Call } from '#test/contract/v3-recorded.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { RECORDED_NET } from '#test/support/shared-index.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Headers that an endpoint writes. */
const HEADERS = ['X-Tern-Next', 'X-Tern-Mc-Seqno', 'Content-Type'];

let main: ServedV3;
let threads: ServedV3;
beforeAll(async () => {
  main = await serveV3(RECORDED_NET);
  threads = await serveV3(RECORDED_NET, undefined, { fromPrice: 0, threads: 2 });
});
afterAll(async () => {
  await threads?.close();
  await main?.close();
});

async function ask(mount: string, { method, path, query, body }: Recording): Promise<unknown> {
  const init: RequestInit = { method };
  if (body !== null && body !== undefined) {
    init.headers = { 'content-type': 'application/json' };
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  const answer = await fetch(`${mount}${path}${query ? `?${query}` : ''}`, init);
  return { status: answer.status, headers: HEADERS.map((name) => answer.headers.get(name)), text: await answer.text() };
}

it('reader threads answer what was recorded with the same bytes as the main thread, in both profiles', async () => {
  // Whether a query ends within a millisecond is not the same each time.
  const isTimed = ({ query }: Recording) => /timeout/i.test(query ?? '');
  const onIndex = new Set(v3IndexEndpoints.map(({ name }) => `/${name}`));
  const all = readRecordings(vectorPath('collection/recorded-net/v3-recordings.jsonl.br')).filter(
    (recording) => v3Call(recording) !== null && onIndex.has(recording.path) && !isTimed(recording),
  );
  const recordings = partOf(all, 8);
  const least = FULL ? 800 : 100;
  expect(recordings.length).toBeGreaterThan(least);
  for (const mount of ['/api/v3', '/toncenter/api/v3']) {
    for (const recording of recordings) {
      const [here, there] = await Promise.all([ask(main.url + mount, recording), ask(threads.url + mount, recording)]);
      expect(there, `${mount} ${recording.id}`).toEqual(here);
    }
  }
  const { answers, replaced, refused } = threads.readers!.metrics();
  expect(answers).toBeGreaterThan(least);
  expect({ replaced, refused }).toEqual({ replaced: 0, refused: 0 });
});
