import { Type } from '@sinclair/typebox';
import { afterAll, expect, it } from 'vitest';
import { endpointOf, nullOr } from '#api/http/endpoint.js';
import type { HttpApi } from '#api/http/http-api.js';
import { openApiDocument } from '#api/http/openapi.js';
import { fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

const endpoint = endpointOf<null>();

/** Twice as much, of a text of digits. */
const doubled = Type.Transform(Type.String({ description: 'Digits.' }))
  .Decode((text) => 2 * Number(text))
  .Encode(String);

const SERVER_MS = 20;
const WORK_MS = 400;

const slow = async () => {
  await new Promise((resolve) => setTimeout(resolve, WORK_MS));
  return 'done';
};

const declared = {
  verbs: ['POST'] as const,
  tag: 'Tests',
  summary: 'For a test',
  description: 'For a test.',
  statuses: [],
  freshness: 'none',
} as const;

const endpoints = [
  endpoint({
    ...declared,
    name: 'nulls',
    params: Type.Object(
      { must: nullOr(doubled, 'Digits, or null.'), may: Type.Optional(nullOr(doubled, 'Digits, or null.')) },
      { additionalProperties: false },
    ),
    result: Type.Unknown(),
    handle: async (params) => params,
  }),
  endpoint({
    ...declared,
    name: 'slow',
    params: Type.Object({}, { additionalProperties: false }),
    result: Type.String(),
    handle: slow,
  }),
  endpoint({
    ...declared,
    name: 'slow-and-patient',
    schemaName: 'Patient',
    params: Type.Object({}, { additionalProperties: false }),
    result: Type.String(),
    deadlineMs: 10_000,
    handle: slow,
  }),
];

const api: HttpApi<null> = {
  prefix: '/api/test',
  title: 'For tests',
  version: '1',
  description: 'For tests.',
  style: 'plain',
  endpoints,
  context: () => null,
};

const network = { ...fakeNetwork('testing', []), apis: [api] };
const server = await startFakeServer({ deadlineMs: SERVER_MS }, { networks: [network] });
afterAll(() => server.close());

async function post(name: string, body: object) {
  const response = await fetch(`${server.url}/api/test/${name}`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, json: (await response.json()) as unknown };
}

it('takes null as a value where a parameter says so, whether or not it must be there', async () => {
  expect((await post('nulls', { must: null })).json).toEqual({ must: null });
  expect((await post('nulls', { must: '4', may: null })).json).toEqual({ must: 8, may: null });
  expect((await post('nulls', { must: null, may: '5' })).json).toEqual({ must: null, may: 10 });
  expect(await post('nulls', {})).toEqual({
    status: 422,
    json: { error: 'parameter must: it is required', code: 422 },
  });
  expect((await post('nulls', { must: 4 })).status).toBe(422);
  const { NullsRequest } = (openApiDocument(api, 'spec') as any).components.schemas;
  for (const name of ['must', 'may']) {
    expect(NullsRequest.properties[name]).toMatchObject({
      description: 'Digits, or null.',
      anyOf: [{ type: 'string' }, { type: 'null' }],
    });
  }
});

it('gives a method the time that it asks for', async () => {
  expect((await post('slow', {})).status).toBe(504);
  expect(await post('slow-and-patient', {})).toEqual({ status: 200, json: 'done' });
});
