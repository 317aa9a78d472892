import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { INIT_SCRIPT } from '#api/http/docs-page-files.js';
import { openApiDocument } from '#api/http/openapi.js';
import { v3Description } from '#api/v3/v3-api.js';
import { v2Description } from '#app/service/apis.js';

const WALLET = 'UQDWFDS2eND0SS0a3LSoSbbXj5492RovwFRZB3lwc--prwC3';
const OTHER = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const RAW = `0:${'83'.repeat(32)}`;

const parameter = (name: string, required: boolean, example: unknown, schema: object = { type: 'string' }) => ({
  ...{ name, in: 'query', required, example, schema },
});
const answer = { 200: { content: { 'application/json': { schema: { type: 'object' } } } } };
const body = (example: object) => ({ content: { 'application/json': { example } } });

/** What the script of the page makes of a document. */
async function prepared(paths: object, data: Readonly<Record<string, string>>, components: object = {}): Promise<any> {
  const files: Readonly<Record<string, unknown>> = {
    'openapi.json': { openapi: '3.1.0', paths, components },
    wallets: {
      wallets: [
        { mnemonic: null, address: OTHER },
        { mnemonic: 'a b', address: WALLET },
      ],
    },
    'examples.json': { '/api/v2/getHead': { ok: true, result: { seqno: 7 } } },
  };
  const root = { dataset: { document: 'openapi.json', access: 'open', ...data }, textContent: '' };
  return new Promise((resolve, reject) => {
    runInNewContext(INIT_SCRIPT, {
      document: { getElementById: () => root },
      window: {},
      fetch: async (url: string) => ({ ok: url in files, status: 404, json: async () => structuredClone(files[url]) }),
      SwaggerUIBundle: ({ spec }: { spec: object }) => resolve(structuredClone(spec)),
    });
    setTimeout(() => reject(new Error(root.textContent)), 1_000).unref();
  });
}

describe('the script of the reference page', () => {
  it('fills in wallets of a local network where addresses are required, and nothing that is optional', async () => {
    const parameters = [
      parameter('source', true, OTHER),
      parameter('seqno', true, 1, { type: 'integer' }),
      parameter('account', false, [OTHER], { type: 'array', items: { type: 'string' }, default: [] }),
    ];
    const post = { requestBody: body({ from: RAW, to: OTHER, list: [{ address: RAW }], text: 'hello' }) };
    const spec = await prepared({ '/a': { get: { parameters } }, '/b': { post } }, { wallets: 'wallets' });
    const [source, seqno, account] = spec.paths['/a'].get.parameters;
    expect([source.example, seqno.example, account.example, account.schema.default]).toEqual([
      WALLET,
      1,
      undefined,
      undefined,
    ]);
    expect(spec.paths['/b'].post.requestBody).toEqual(
      body({ from: WALLET, to: WALLET, list: [{ address: WALLET }], text: 'hello' }),
    );
  });

  it('shows recorded answers', async () => {
    for (const path of ['/api/v2/getHead', '/toncenter/api/v2/getHead']) {
      const spec = await prepared({ [path]: { get: { responses: answer } } }, { examples: 'examples.json' });
      const good = spec.paths[path].get.responses[200].content['application/json'];
      expect(good.example, path).toEqual({ ok: true, result: { seqno: 7 } });
    }
  });

  it('does without answers and wallets', async () => {
    const get = { parameters: [parameter('address', true, OTHER)], responses: answer };
    const spec = await prepared({ '/a': { get } }, { examples: 'none', wallets: 'none' });
    expect(spec.paths['/a'].get.parameters[0].example).toBe(OTHER);
  });

  it('replaces keywords of OpenAPI 3.1 by those of 3.0, which Swagger UI resolves ten times as fast', async () => {
    const schemas = {
      Made: {
        type: 'object',
        properties: {
          kind: { const: 'made' },
          code: { type: 'string', contentEncoding: 'base64' },
          lt: { anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] },
          hash: { description: 'of a block', anyOf: [{ type: 'string', examples: ['ab'] }, { type: 'null' }] },
          examples: { type: 'array', items: { type: 'integer', examples: [7] } },
          names: { type: 'object', patternProperties: { '^(.*)$': { const: 1 } } },
        },
      },
    };
    const parameters = [parameter('of', true, 'made', { type: 'string', const: 'made' })];
    const spec = await prepared({ '/a': { get: { parameters } } }, {}, { schemas });
    expect(spec.openapi).toBe('3.0.3');
    expect(spec.paths['/a'].get.parameters[0].schema).toEqual({ type: 'string', enum: ['made'] });
    expect(spec.components.schemas.Made.properties).toEqual({
      kind: { enum: ['made'] },
      code: { type: 'string', format: 'byte' },
      lt: { anyOf: [{ type: 'integer' }, { type: 'string' }], nullable: true },
      hash: { description: 'of a block', type: 'string', example: 'ab', nullable: true },
      examples: { type: 'array', items: { type: 'integer', example: 7 } },
      names: { type: 'object', additionalProperties: { enum: [1] }, example: {} },
    });
  });

  it.each([v2Description, v3Description])(
    'leaves no keyword of OpenAPI 3.1 in the document of $title',
    async (description) => {
      const { paths, components } = structuredClone(openApiDocument(description, 'spec')) as any;
      const left: string[] = [];
      const visit = (schema: any, place: string): void => {
        if (typeof schema !== 'object' || schema === null) return;
        for (const keyword of KEYWORDS_OF_31) if (keyword in schema) left.push(`${place}: ${keyword}`);
        if (schema.type === 'null' || Array.isArray(schema.type)) left.push(`${place}: type ${schema.type}`);
        for (const [name, one] of Object.entries(schema.properties ?? {})) visit(one, `${place}.${name}`);
        for (const one of [schema.items, schema.additionalProperties]) visit(one, `${place}[]`);
        for (const one of [schema.anyOf, schema.oneOf, schema.allOf].flat()) visit(one, place);
      };
      const spec = await prepared(paths, {}, components);
      for (const [name, schema] of Object.entries(spec.components.schemas)) visit(schema, name);
      const operations = Object.values(spec.paths).flatMap((path: any) => [path, ...Object.values(path)]);
      const parameters = operations.flatMap(({ parameters = [] }: any) => parameters);
      for (const { name, schema } of parameters) visit(schema, name);
      const contents = [
        ...operations.flatMap(({ requestBody, responses = {} }: any) => [requestBody, ...Object.values(responses)]),
        ...Object.values(spec.components.responses),
      ].flatMap((each: any) => Object.values(each?.content ?? {}));
      for (const { schema } of contents as any[]) visit(schema, 'a body');
      expect(
        [Object.keys(spec.components.schemas).length, parameters.length, contents.length].every((n) => n > 20),
      ).toBe(true);
      expect(left).toEqual([]);
    },
  );
});

const KEYWORDS_OF_31 = ['const', 'examples', 'contentEncoding', 'contentMediaType', 'patternProperties', 'prefixItems'];
