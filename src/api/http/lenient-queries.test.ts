import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { type FakeWorld, fakeApi, fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

let server: HttpServer & { readonly world: FakeWorld };
beforeAll(async () => {
  server = await startFakeServer();
});
afterAll(() => server.close());

const get = async (path: string, at = server.url) => {
  const response = await fetch(`${at}${path}`);
  const { result, error } = (await response.json()) as { result?: { params?: object }; error?: string };
  return {
    status: response.status,
    params: result?.params,
    error,
    ignored: response.headers.get('x-tern-ignored'),
  };
};

describe('a query in the toncenter profile', () => {
  const path = '/toncenter/api/v2/getEverything';

  it('may have parameters without a value, which count as not given', async () => {
    const { status, params, ignored } = await get(`${path}?even=ab&seqno=&limit=&kind=&commas=&list=&list=5&list=`);
    expect({ status, params, ignored }).toEqual({
      status: 200,
      params: { even: 2, limit: 10, list: [5] },
      ignored: null,
    });
    const missing = await get(`${path}?even=`);
    expect([missing.status, missing.error]).toEqual([422, 'parameter even: it is required']);
  });

  it('may have unknown parameters, which a header names', async () => {
    const { status, params, ignored } = await get(`${path}?even=ab&t=0b5c&%D1%82%0A=1&__proto__=2&api_key=`);
    expect([status, params]).toEqual([200, { even: 2, limit: 10 }]);
    expect(ignored).toBe('t, %D1%82%0A, __proto__');
    expect((await get(`${path}?t=1`)).ignored).toBe('t');
    const long = await get(
      `${path}?even=ab&${'n'.repeat(2_000)}&${Array.from({ length: 40 }, (_, i) => `x${i}`).join('&')}`,
    );
    expect(long.status).toBe(200);
    expect(long.ignored!.length).toBeLessThan(300);
    expect(long.ignored).toMatch(/^n{64}\.\.\., x0, .*, x14, \.\.\.$/);
  });

  it('of a POST may have unknown parameters as well, and none of the body', async () => {
    const post = (query: string, at = path) =>
      fetch(`${server.url}${at}?${query}`, { method: 'POST', body: '{"even":"ab"}' });
    const answer = await post('t=0b5c&empty=');
    expect([answer.status, answer.headers.get('x-tern-ignored')]).toEqual([200, 't, empty']);
    expect((await post('t=0b5c&even=')).status).toBe(422);
    expect((await post('t=0b5c', '/api/v2/getEverything')).status).toBe(422);
  });

  it('is answered from the cache whatever is ignored', async () => {
    const before = server.world.worked.length;
    for (const t of ['a', 'b', 'c']) expect((await get(`/toncenter/api/v2/getBlock?seqno=3&t=${t}`)).ignored).toBe('t');
    expect(server.world.worked.slice(before)).toEqual(['getBlock 3']);
  });

  it('refuses empty values of an API whose live service refuses them', async () => {
    const apis = [{ ...fakeApi(server.world), ignores: 'unknown' as const }];
    const other = await startFakeServer({}, { networks: [{ ...fakeNetwork('other', []), apis }] });
    try {
      expect(await get(`${path}?even=ab&t=1`, other.url)).toMatchObject({ status: 200, ignored: 't' });
      expect((await get(`${path}?even=ab&seqno=`, other.url)).status).toBe(422);
    } finally {
      await other.close();
    }
  });

  it('is strict in bodies, and for an API that says so', async () => {
    const posted = await fetch(`${server.url}${path}`, { method: 'POST', body: '{"even":"ab","t":"1"}' });
    expect(posted.status).toBe(422);
    const strict = { ...fakeNetwork('strict', []), apis: [{ ...fakeApi(server.world), ignores: 'nothing' as const }] };
    const other = await startFakeServer({}, { networks: [strict] });
    try {
      expect((await get(`${path}?even=ab&t=1`, other.url)).status).toBe(422);
      expect((await get(`${path}?even=ab&seqno=`, other.url)).status).toBe(422);
    } finally {
      await other.close();
    }
  });
});

describe('a query in the spec profile', () => {
  it('has known parameters with values only', async () => {
    for (const more of ['t=1', 'seqno=']) {
      const { status, ignored } = await get(`/api/v2/getEverything?even=ab&${more}`);
      expect([status, ignored], more).toEqual([422, null]);
    }
  });
});

it('documents the default profile of the server where no mount is named', async () => {
  const live = await startFakeServer({ profile: 'toncenter' });
  try {
    const titles = async (path: string) => {
      const { servers, components } = (await (await fetch(`${live.url}${path}`)).json()) as any;
      return [servers[0].url, components.schemas.Everything.properties['@type'].const];
    };
    expect(await titles('/api/v2/openapi.json')).toEqual(['/', 'ton.everything']);
    expect(await titles('/toncenter/api/v2/openapi.json')).toEqual(['/toncenter', 'ton.everything']);
    expect((await get('/api/v2/getEverything?even=ab&t=1', live.url)).ignored).toBe('t');
  } finally {
    await live.close();
  }
});
