import { expect, it } from 'vitest';
import { fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

it('answers 501 with a sentence for what is not there yet, and 404 for what is nowhere', async () => {
  const missingPaths = { '/api/v2/later': 'use getHead', '/api/emulate/': 'use a fork' };
  const server = await startFakeServer({}, { missingPaths, networks: [fakeNetwork('testing', [])] });
  try {
    for (const path of ['/api/v2/later?x=1', '/toncenter/api/v2/later', '/api/emulate/v1/emulateTrace']) {
      const answer = await fetch(
        `${server.url}${path}`,
        path.includes('emulate') ? { method: 'POST', body: '{}' } : {},
      );
      expect([answer.status, await answer.text()], path).toEqual([
        501,
        expect.stringMatching(/ is not there yet; use /),
      ]);
    }
    expect((await fetch(`${server.url}/api/v2/never`)).status).toBe(404);
    expect((await fetch(`${server.url}/api/emulated`)).status).toBe(404);
  } finally {
    await server.close();
  }
});
