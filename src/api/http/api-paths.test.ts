import { type TObject, Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { ApiPaths, NetworkChoice } from '#api/http/api-paths.js';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { compileApi } from '#api/http/endpoint-calls.js';
import type { AnyHttpApi } from '#api/http/http-api.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { fakeNetwork } from '#test/support/fake-http-api.js';
import { fakePlainApi, PlainWorld } from '#test/support/fake-plain-api.js';

const plain = fakePlainApi(new PlainWorld()) as AnyHttpApi;
const bare = fakeNetwork('one', []);
const network = { ...bare, apis: [...bare.apis, plain] };
const paths = new ApiPaths([network], new NetworkChoice([network]));

describe('paths', () => {
  it('are in one form where letter case does not count, and as they were elsewhere', () => {
    const forms: [string, string][] = [
      ['/API/V3/Blocks/?A=/B/', '/api/v3/blocks?A=/B/'],
      ['/TonCenter/api/v3/Blocks', '/toncenter/api/v3/blocks'],
      ['/api/V3', '/api/v3'],
      ['/api/V3/', '/api/v3/'],
      ['/api/V3/?x=1', '/api/v3/?x=1'],
      ['/api/v3/A//', '/api/v3/a/'],
      ['/api/v3x/A/', '/api/v3x/A/'],
      ['/x/api/v3/A/', '/x/api/v3/A/'],
      ['/api/v2/getHead/', '/api/v2/getHead/'],
      ['/API/v2/A', '/API/v2/A'],
      ['/?/api/v3/A', '/?/api/v3/A'],
      ['', ''],
    ];
    for (const [given, canonical] of forms) expect(paths.canonical(given), given).toBe(canonical);
  });

  it('belong to the API whose prefix they begin with', () => {
    expect(paths.of(undefined, '/API/v3?a')).toMatchObject({ api: { prefix: '/api/v3' }, profile: null });
    expect(paths.of(undefined, '/toncenter/api/v2/a')).toMatchObject({
      api: { prefix: '/api/v2' },
      profile: 'toncenter',
    });
    for (const other of ['/API/v2/a', '/api/v33', '/api', '/toncenter', '/', ''])
      expect(paths.of(undefined, other), other).toBeNull();
  });

  it('of one prefix have one style on all networks', () => {
    const other = { ...fakeNetwork('two', ['two.example']), apis: [{ ...plain, style: 'envelope' as const }] };
    const both = [network, other];
    expect(errorCode(() => new ApiPaths(both, new NetworkChoice(both)))).toBe('http/bad-option');
  });
});

describe('an API whose names cannot be distinguished', () => {
  const problemOf = (params: TObject) => {
    const endpoint = { ...plain.endpoints[0], params } as unknown as AnyEndpoint<unknown>;
    return errorOf(() => compileApi(network, { ...plain, endpoints: [endpoint] })).message;
  };
  const closed = { additionalProperties: false };

  it('is not served', () => {
    expect(problemOf(Type.Object({ lastLt: Type.String() }, closed))).toContain('lastLt must be in lower case');
    expect(problemOf(Type.Object({ x_timeout: Type.String() }, closed))).toContain('x_timeout is also a switch');
    const twice = plain.endpoints.map((endpoint) => ({ ...endpoint, aliases: ['SWITCHES'] }));
    expect(errorCode(() => compileApi(network, { ...plain, endpoints: twice }))).toBe('http/bad-endpoint');
  });
});
