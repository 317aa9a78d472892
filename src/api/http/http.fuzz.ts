import type { AnyEndpoint, RawParameters } from '#api/http/endpoint.js';
import { parseJsonBody, parseRpc, rpcIdOf } from '#api/http/json-body.js';
import { compileParameters, foldingGrammar, parseQuery } from '#api/http/parameters.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import { fakeEndpoints } from '#test/support/fake-http-api.js';

const JSON_LIMITS = { maxNesting: 256, maxJsonNames: 5_000, maxJsonValues: 10_000 };

const reader = compileParameters(fakeEndpoints[0] as AnyEndpoint<never>);

const plainReader = compileParameters(fakeEndpoints[0] as AnyEndpoint<never>, foldingGrammar);

const QUERIES = [
  'even=ab&seqno=5&lt=-123&flag=yes&list=1&list=2&texts=ab&texts=',
  'even=%D1%82+%2B&method=5&kind=a&ratio=1.5e3&maybe=7&limit=100&@extra=x',
];

const PLAIN_QUERIES = [
  'EVEN=ab&Seqno=5&flag=T&list[]=1&List%5B%5D=2&commas=1,2&commas=3',
  'even=%D1%82&commas=1%2C2,,&ratio=1.5e3&flag=off&LIMIT=100',
];

const BODIES = [
  '{"even":"ab","seqno":"7","lt":12345678901234567890,"flag":true,"list":[1,"2"],"tree":{"value":1,"children":[{"value":2}]}}',
  '{"even":"","anything":{"a":[{"b":"\\"\\\\"}]},"maybe":null,"method":"\\u0441","ratio":-1.5e-3}',
];

const RPCS = [
  '{"jsonrpc":"2.0","id":12345678901234567890,"method":"getEverything","params":{"even":"ab"}}',
  '{"method":"m","params":[]}',
];

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'http-query',
    make: (random) => mutate(Buffer.from(random.pick(QUERIES)), random),
    run: (input) => void reader.read(parseQuery(Buffer.from(input).toString('latin1')), 'query'),
    allowed: (error) => error.code.startsWith('http/') && error.class === 'caller',
  },
  {
    name: 'http-plain-query',
    make: (random) => mutate(Buffer.from(random.pick(PLAIN_QUERIES)), random),
    run: (input) => void plainReader.read(parseQuery(Buffer.from(input).toString('latin1'), foldingGrammar), 'query'),
    allowed: (error) => error.code.startsWith('http/') && error.class === 'caller',
  },
  {
    name: 'http-body',
    make: (random) => mutate(Buffer.from(random.pick(BODIES)), random),
    run: (input) => {
      const { value } = parseJsonBody(Buffer.from(input), JSON_LIMITS);
      if (typeof value === 'object' && value !== null) reader.read(value as RawParameters, 'body');
    },
    allowed: (error) => error.code.startsWith('http/') && error.class === 'caller',
  },
  {
    name: 'http-rpc',
    make: (random) => mutate(Buffer.from(random.pick(RPCS)), random),
    run: (input) => {
      const body = parseJsonBody(Buffer.from(input), JSON_LIMITS);
      JSON.parse(rpcIdOf(body) || 'null');
      parseRpc(body);
    },
    allowed: (error) => error.code === 'http/bad-json' || error.code === 'http/bad-rpc',
  },
];
