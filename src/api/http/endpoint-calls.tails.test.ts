import { afterEach, expect, it } from 'vitest';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import type { HttpServer } from '#api/http/server.js';
import { fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';
import { fakePlainApi, type PlainContext, PlainWorld } from '#test/support/fake-plain-api.js';

let server: HttpServer;
afterEach(() => server.close());

it('an answer whose tail is written anew has the headers of that tail, and its other ones', async () => {
  const world = new PlainWorld();
  const api = fakePlainApi(world);
  const endpoints = api.endpoints.map((endpoint): AnyEndpoint<PlainContext> => {
    if (endpoint.name !== 'masterchainInfo') return endpoint;
    return {
      ...endpoint,
      depends: () => ['rows'],
      handle: async (_, { request }) => {
        world.worked.push('rows');
        request.header('X-Tern-Next', 'abc');
        request.header('X-Tern-Coverage', 'all');
        return jsonText('{"rows":1,"tail":1}', { from: 10, keys: ['tail'], source: 'tail' });
      },
    };
  });
  const changed = new Map<string, number>();
  const changes = {
    confirmedAt: Number.POSITIVE_INFINITY,
    isUnchanged: (keys: readonly string[], since: number) => keys.every((key) => (changed.get(key) ?? 0) <= since),
  };
  let isKept = true;
  const writeTail = async (_: unknown, { request }: PlainContext) => {
    if (changed.get('tail') === 41) request.header('X-Tern-Coverage', 'part');
    if (!isKept) request.notKept();
    return { text: `"tail":${changed.get('tail')}}`, keys: ['tail'] };
  };
  const network = fakeNetwork('testing', []);
  server = await startFakeServer({}, { networks: [{ ...network, apis: [{ ...api, endpoints, changes, writeTail }] }] });
  const ask = async () => {
    const answer = await fetch(`${server.url}/api/v3/masterchainInfo`);
    return [await answer.text(), ...['X-Tern-Next', 'X-Tern-Coverage'].map((name) => answer.headers.get(name))];
  };
  expect(await ask()).toEqual(['{"rows":1,"tail":1}', 'abc', 'all']);
  world.seqno = 41;
  changed.set('tail', 41);
  isKept = false;
  expect(await ask()).toEqual(['{"rows":1,"tail":41}', 'abc', 'part']);
  // What was not kept left the answer before as it was.
  world.seqno = 42;
  changed.set('tail', 42);
  isKept = true;
  expect(await ask()).toEqual(['{"rows":1,"tail":42}', 'abc', 'all']);
  expect(await ask()).toEqual(['{"rows":1,"tail":42}', 'abc', 'all']);
  expect(world.worked).toEqual(['rows']);
});
