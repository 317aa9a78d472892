import { expect, it } from 'vitest';
import type { RawRequest } from '#api/http/http-api.js';
import { ConnectionLimits } from '#api/stream/connection-limits.js';
import { isTernError } from '#kernel/tern-error.js';

const requestOf = (client: string, streams: object | null = null) =>
  ({ client, streams, headers: {} }) as unknown as RawRequest;

function codeOf(run: () => unknown): string | null {
  try {
    run();
    return null;
  } catch (error) {
    return isTernError(error) ? error.code : String(error);
  }
}

it('counts the streams of each client, by its plan where that says it', () => {
  const limits = new ConnectionLimits({ maxConnections: 1, maxAddresses: 10, maxWatched: 100 });
  const first = limits.admit(requestOf('a'), 'ws');
  expect(first.maxAddresses).toBe(10);
  expect(codeOf(() => limits.admit(requestOf('a'), 'sse'))).toBe('stream/too-many-connections');
  expect(codeOf(() => limits.admit(requestOf('b'), 'sse'))).toBe(null);
  const plan = { stream_connections: 2, stream_addresses: 5 };
  expect(limits.admit(requestOf('a', plan), 'sse').maxAddresses).toBe(5);
  expect(codeOf(() => limits.admit(requestOf('a', plan), 'sse'))).toBe('stream/too-many-connections');
  first.release();
  first.release();
  expect(limits.open).toBe(2);
});

it('bounds the accounts of all streams, and those of one client to a quarter', () => {
  const limits = new ConnectionLimits({ maxConnections: null, maxAddresses: null, maxWatched: 100 });
  const [a, b] = [limits.admit(requestOf('a'), 'ws'), limits.admit(requestOf('a'), 'sse')];
  a.hold(20);
  expect(codeOf(() => b.hold(6))).toBe('stream/too-many-watched');
  b.hold(5);
  a.hold(10);
  b.hold(15);
  for (const client of ['b', 'c', 'd']) limits.admit(requestOf(client), 'ws').hold(25);
  const last = limits.admit(requestOf('e'), 'ws');
  expect(codeOf(() => last.hold(1))).toBe('stream/too-many-watched');
  a.release();
  last.hold(10);
  expect(codeOf(() => last.hold(11))).toBe('stream/too-many-watched');
});
