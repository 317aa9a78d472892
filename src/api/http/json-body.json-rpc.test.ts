import { describe, expect, it } from 'vitest';
import { parseJsonBody, parseRpc, rpcIdOf } from '#api/http/json-body.js';
import { errorOf } from '#test/support/error-code.js';

const body = (text: string) =>
  parseJsonBody(Buffer.from(text), { maxNesting: 32, maxJsonNames: 100, maxJsonValues: 1_000 });

describe('a request of JSON-RPC', () => {
  it('has a method, and parameters or none', () => {
    for (const params of ['', ',"params":{}', ',"params":null', ',"params":[]']) {
      expect(parseRpc(body(`{"method":"m"${params}}`)), params).toEqual({
        method: 'm',
        params: {},
        id: '',
        extra: undefined,
      });
    }
    expect(parseRpc(body('{"method":"m","params":{"a":1},"id":"x","@extra":"e","jsonrpc":"1.0","other":1}'))).toEqual({
      method: 'm',
      params: { a: 1 },
      id: '"x"',
      extra: 'e',
    });
  });

  it('is refused in words', () => {
    const cases: [string, string][] = [
      ['[]', 'batches are not supported: send one request object at a time'],
      ['[{"method":"m"}]', 'batches are not supported: send one request object at a time'],
      ['"m"', 'the body must be a JSON object with method and params'],
      ['null', 'the body must be a JSON object with method and params'],
      ['{}', 'method must be a string'],
      ['{"method":null}', 'method must be a string'],
      ['{"method":5}', 'method must be a string'],
      ['{"method":"m","params":[1]}', 'params must contain an object'],
      ['{"method":"m","params":"a"}', 'params must contain an object'],
      ['{"method":"m","params":0}', 'params must contain an object'],
    ];
    for (const [text, problem] of cases) {
      const error = errorOf(() => parseRpc(body(text)));
      expect([error.code, error.message], text).toEqual(['http/bad-rpc', problem]);
    }
  });

  it('gets its id back as it was', () => {
    for (const id of [
      '1',
      '"1"',
      '-5',
      '1.5',
      'null',
      'true',
      '{"a":[1]}',
      '""',
      '12345678901234567890',
      '-9223372036854775808999',
    ]) {
      expect(rpcIdOf(body(`{"method":"m","id":${id}}`)), id).toBe(id);
    }
    expect(rpcIdOf(body('{"id":"12345678901234567890","params":{"a":98765432109876543210}}'))).toBe(
      '"12345678901234567890"',
    );
    expect(rpcIdOf(body('{"method":"m"}'))).toBe('');
    expect(rpcIdOf(body('[1]'))).toBe('');
  });
});
