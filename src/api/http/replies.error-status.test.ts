import { describe, expect, it } from 'vitest';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { retryAfterSeconds, statusOf } from '#api/http/replies.js';
import { type ErrorClass, TernError } from '#kernel/tern-error.js';

const error = (code: string, errorClass: ErrorClass) => new TernError(code, errorClass, 'text', 'remedy', {});
const endpoint = (statuses: number[], errorStatuses = {}) =>
  ({ statuses, errorStatuses }) as unknown as AnyEndpoint<never>;
const plain = endpoint([422]);

describe('statuses', () => {
  it('are those of the class', () => {
    const table: [ErrorClass, number, number][] = [
      ['caller', 422, 422],
      ['not-found', 404, 500],
      ['upstream', 500, 500],
      ['overloaded', 503, 503],
      ['internal', 500, 500],
      ['shutting-down', 503, 503],
    ];
    for (const [errorClass, spec, toncenter] of table) {
      expect(statusOf(error('a/b', errorClass), plain, 'spec'), errorClass).toBe(spec);
      expect(statusOf(error('a/b', errorClass), plain, 'toncenter'), errorClass).toBe(toncenter);
    }
  });

  it('may differ by profile where the endpoint declares it', () => {
    const split = endpoint([401, 422], { 'a/b': { spec: 422, toncenter: 401 } });
    expect(statusOf(error('a/b', 'caller'), split, 'spec')).toBe(422);
    expect(statusOf(error('a/b', 'caller'), split, 'toncenter')).toBe(401);
  });

  it('of not-found are 404 in both profiles where the endpoint declares it for the error, and without an endpoint', () => {
    expect(statusOf(error('a/b', 'not-found'), endpoint([404]), 'toncenter')).toBe(500);
    expect(statusOf(error('a/b', 'not-found'), endpoint([404], { 'a/b': 404 }), 'toncenter')).toBe(404);
    expect(statusOf(httpErrors['not-found']({}), null, 'toncenter')).toBe(404);
  });

  it('of some codes are their own, those of the endpoint first', () => {
    expect(statusOf(error('chain/deadline', 'upstream'), plain, 'spec')).toBe(504);
    expect(statusOf(error('store/timeout', 'overloaded'), plain, 'toncenter')).toBe(504);
    expect(statusOf(error('lite/unanswered', 'upstream'), plain, 'toncenter')).toBe(503);
    expect(statusOf(error('lite/answer-error', 'caller'), plain, 'spec')).toBe(422);
    expect(statusOf(error('lite/answer-error', 'caller'), plain, 'toncenter')).toBe(500);
    expect(statusOf(error('lite/unanswered', 'upstream'), endpoint([], { 'lite/unanswered': 542 }), 'spec')).toBe(542);
    expect(statusOf(httpErrors['rate-limit']({ limit: 'a', retryAfterSeconds: 3 }), plain, 'spec')).toBe(429);
  });

  it('that pass with time say when', () => {
    expect(retryAfterSeconds(httpErrors['rate-limit']({ limit: 'a', retryAfterSeconds: 3 }))).toBe(3);
    expect(retryAfterSeconds(error('a/b', 'overloaded'))).toBe(1);
    expect(retryAfterSeconds(error('a/b', 'caller'))).toBeNull();
  });
});
