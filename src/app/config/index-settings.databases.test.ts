import { describe, expect, it } from 'vitest';
import { assignDatabases, databaseUrl, type IndexRole } from '#app/config/index-settings.js';
import { errorCode } from '#test/support/error-code.js';

const parsed = (texts: readonly string[]) => texts.map((text) => databaseUrl.parse(text) as never);
const assigned = (networks: string[], urls: string[], readUrls: string[] = [], role: IndexRole = 'all') =>
  Object.fromEntries(assignDatabases(networks, { databaseUrl: parsed(urls), databaseReadUrl: parsed(readUrls), role }));
const refusal = (problem: RegExp) =>
  expect.objectContaining({ code: 'config/setting-conflict', message: expect.stringMatching(problem) });

describe('databases', () => {
  it('are none by default', () => expect(assigned(['mainnet'], [])).toEqual({}));

  it('are of the only network without saying so, and of the others by name', () => {
    const socket = 'postgresql://tern@/tern?host=/run/tern';
    expect(assigned(['mainnet'], [socket])).toEqual({ mainnet: { url: socket, readUrl: null } });
    const replicas = ['two=postgresql://r/2'];
    expect(assigned(['one', 'two', 'bare'], ['two=postgresql://w/2', 'one=postgresql://w/1'], replicas)).toEqual({
      one: { url: 'postgresql://w/1', readUrl: null },
      two: { url: 'postgresql://w/2', readUrl: 'postgresql://r/2' },
    });
  });

  it.each<[string, string[], string[], string[], IndexRole, RegExp]>([
    ['no name among several', ['a', 'b'], ['postgresql://x/1'], [], 'all', /^--database-url does not name.*a, b/],
    [
      'an unknown name',
      ['a'],
      ['b=postgresql://x/1'],
      [],
      'all',
      /^--database-url names the network "b"; available: a$/,
    ],
    ['two for one', ['a'], ['a=postgresql://x/1', 'postgresql://x/2'], [], 'all', /assigns two databases to a/],
    [
      'one for two',
      ['a', 'b'],
      ['a=postgresql://x/1', 'b=postgresql://x/1'],
      [],
      'all',
      /assigns one database to a and b/,
    ],
    ['a replica of nothing', ['a'], [], ['postgresql://x/1'], 'all', /^--database-read-url is set for a, which has no/],
    ['a role without one', ['a'], [], [], 'indexer', /^--role indexer requires a database, but a has no/],
    ['a role of which one has none', ['a', 'b'], ['a=postgresql://x/1'], [], 'api', /^--role api.*, but b has no/],
  ])('are refused: %s', (_, networks, urls, readUrls, role, problem) => {
    expect(() => assigned(networks, urls, readUrls, role)).toThrow(refusal(problem));
  });
});

describe('the embedded database', () => {
  const assign = (urls: readonly string[], role: IndexRole) => {
    const databases = { database: 'embedded' as const, databaseUrl: parsed(urls), databaseReadUrl: [], role };
    return assignDatabases(['mainnet'], databases);
  };

  it('is for one process, and takes the place of a URL', () => {
    expect(assign([], 'all').size).toBe(0);
    expect(errorCode(() => assign(['postgresql://h/d'], 'all'))).toBe('config/setting-conflict');
    for (const role of ['api', 'indexer'] as const) {
      expect(
        errorCode(() => assign([], role)),
        role,
      ).toBe('config/setting-conflict');
    }
  });
});
