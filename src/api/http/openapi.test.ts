import { type TSchema, Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { openApiDocument, schemaNameOf } from '#api/http/openapi.js';
import { SchemaComponents } from '#api/http/openapi-schemas.js';
import { errorCode } from '#test/support/error-code.js';
import { FakeWorld, fakeApi } from '#test/support/fake-http-api.js';
import { fakePlainApi, PlainWorld } from '#test/support/fake-plain-api.js';

const document = openApiDocument(fakeApi(new FakeWorld()), 'spec') as any;

/** All `$ref` of a document. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

/** What a reference stands for. */
const at = (whole: any, reference: string) =>
  reference
    .split('/')
    .slice(1)
    .reduce((part: any, step) => part?.[step], whole);

describe('the document', () => {
  it('has a path for each published method and JSON-RPC, and an operation for each verb', () => {
    const operations = Object.entries(document.paths).map(([path, item]) => [path, Object.keys(item as object)]);
    expect(operations).toEqual([
      ['/api/v2/getEverything', ['get', 'post']],
      ['/api/v2/getHead', ['get', 'post']],
      ['/api/v2/getBlock', ['get', 'post']],
      ['/api/v2/send', ['post']],
      ['/api/v2/getLarge', ['get']],
      ['/api/v2/jsonRPC', ['post']],
    ]);
    expect(document.openapi).toBe('3.1.0');
    expect(document.info).toEqual({ title: 'A fake API', version: '2.1.1', description: 'For tests.' });
    expect(document.tags.map(({ name }: { name: string }) => name)).toEqual(['Reads', 'Writes', 'RPC']);
  });

  it('describes parameters, bodies and answers', () => {
    const { get, post } = document.paths['/api/v2/getBlock'];
    expect([get.operationId, post.operationId]).toEqual(['getBlock_get', 'getBlock_post']);
    expect(get.parameters).toEqual([
      { name: 'seqno', in: 'query', required: true, schema: { type: 'integer', minimum: 1 } },
      { name: 'wait', in: 'query', required: false, schema: { type: 'boolean' } },
    ]);
    const reference = { $ref: '#/components/schemas/BlockRequest' };
    expect(post.requestBody).toEqual({ required: true, content: { 'application/json': { schema: reference } } });
    const everything = document.paths['/api/v2/getEverything'].post.requestBody.content['application/json'];
    expect(everything.example).toMatchObject({ even: 'ab' });
    expect(document.components.schemas.BlockRequest).toMatchObject({
      additionalProperties: false,
      required: ['seqno'],
      // In a body numbers may be texts, and null stands for none.
      properties: {
        seqno: {
          anyOf: [
            { type: 'integer', minimum: 1 },
            { type: 'string', pattern: '^[+-]?[0-9]{1,40}$' },
          ],
        },
        wait: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      },
    });
    expect(Object.keys(get.responses)).toEqual(['200', '401', '403', '404', '414', '422', '429', '500', '503', '504']);
    expect(document.components.schemas.HeadResponse).toMatchObject({
      required: ['ok', 'result'],
      additionalProperties: false,
      properties: { ok: { const: true }, result: { $ref: '#/components/schemas/Head' }, '@extra': { type: 'string' } },
    });
    expect(document.paths['/api/v2/getHead'].post.requestBody.required).toBe(false);
    const [even] = document.paths['/api/v2/getEverything'].get.parameters;
    expect(even).toMatchObject({ description: 'An even text.', example: 'ab', schema: { type: 'string' } });
  });

  it('has all that it refers to, and no names of the library', () => {
    for (const reference of referencesIn(document)) {
      expect(at(document, reference), reference).toBeTypeOf('object');
    }
    expect(JSON.stringify(document)).not.toMatch(/"\$(id|defs)"/);
    expect(document.components.schemas.Tree.properties.children.items).toEqual({ $ref: '#/components/schemas/Tree' });
  });

  it('has the names of types of its profile', () => {
    const other = openApiDocument(fakeApi(new FakeWorld()), 'toncenter') as any;
    const typeIn = (from: any) => from.components.schemas.Everything.properties['@type'].const;
    expect([typeIn(document), typeIn(other)]).toEqual(['chain.everything', 'ton.everything']);
    expect([document.servers, other.servers]).toEqual([[{ url: '/' }], [{ url: '/toncenter' }]]);
  });
});

describe('the document of a plain API', () => {
  const plain = openApiDocument(fakePlainApi(new PlainWorld()), 'spec') as any;

  it('has results as bodies, and no JSON-RPC', () => {
    expect(Object.keys(plain.paths)).toEqual([
      '/api/v3/jetton/wallets',
      '/api/v3/masterchainInfo',
      '/api/v3/switches',
      '/api/v3/decode',
    ]);
    expect(plain.tags.map(({ name }: { name: string }) => name)).toEqual(['Reads', 'Tools']);
    const bodyOf = (path: string) =>
      plain.paths[`/api/v3/${path}`].get.responses[200].content['application/json'].schema;
    expect(bodyOf('jetton/wallets')).toEqual({ $ref: '#/components/schemas/RowsResponse' });
    expect(bodyOf('masterchainInfo')).toEqual({ $ref: '#/components/schemas/MasterchainInfoResponse' });
    expect(plain.components.schemas.MasterchainInfoResponse.properties).toHaveProperty('seqno');
    expect(plain.paths['/api/v3/jetton/wallets'].get.operationId).toBe('jetton_wallets_get');
    const text = JSON.stringify(plain);
    for (const word of ['@extra', 'JsonRpc', 'ErrorResponse', '"ok"']) expect(text).not.toContain(word);
  });

  it('has errors as each profile writes them, and statuses that are alike', () => {
    const live = openApiDocument(fakePlainApi(new PlainWorld()), 'toncenter') as any;
    const errorOf = ({ components }: any) => [
      Object.keys(components.schemas.RequestError.properties),
      components.responses[422].content['application/json'].example,
    ];
    expect(errorOf(plain)).toEqual([['error', 'code'], { error: 'parameter address: it is required', code: 422 }]);
    expect(errorOf(live)).toEqual([['error'], { error: 'parameter address: it is required' }]);
    expect(Object.keys(live.paths['/api/v3/masterchainInfo'].get.responses)).toContain('404');
    expect(plain.components.responses[414].description).toBe('The URL has more than 100000 bytes.');
  });

  it('has the switches once, for all paths', () => {
    const names = ['X-Timeout', 'x_timeout', 'X-No-Address-Book', 'x_no_address_book', 'X-Actions-Version'];
    expect(Object.keys(plain.components.parameters)).toEqual(names);
    expect(plain.components.parameters['X-Timeout']).toEqual({
      name: 'X-Timeout',
      in: 'header',
      required: false,
      description: 'Milliseconds.',
      schema: { type: 'integer', minimum: 1, maximum: 3_000 },
    });
    expect(plain.components.parameters.x_timeout).toMatchObject({ name: 'x_timeout', in: 'query' });
    for (const { parameters } of Object.values(plain.paths) as any[])
      expect(parameters).toEqual(names.map((name) => ({ $ref: `#/components/parameters/${name}` })));
    expect(document.components).not.toHaveProperty('parameters');
  });

  it('has all that it refers to', () => {
    for (const reference of referencesIn(plain)) expect(at(plain, reference), reference).toBeTypeOf('object');
  });
});

describe('schemas', () => {
  it('of one name must be the same', () => {
    const components = new SchemaComponents();
    const named = () => Type.Object({ a: Type.String() }, { $id: 'A' });
    expect(components.write(Type.Array(named()))).toEqual({ type: 'array', items: { $ref: '#/components/schemas/A' } });
    expect(components.write(named())).toEqual({ $ref: '#/components/schemas/A' });
    expect(Object.keys(components.schemas)).toEqual(['A']);
    components.write(Type.Object({}, { $id: 'A' }));
    expect(errorCode(() => components.schemas)).toBe('http/bad-endpoint');
  });

  it('of a module of types become components', () => {
    const components = new SchemaComponents();
    const module = Type.Module({ List: Type.Array(Type.Ref('Node')), Node: Type.Object({ list: Type.Ref('List') }) });
    expect(components.write(module.Import('Node'))).toEqual({ $ref: '#/components/schemas/Node' });
    expect(components.schemas).toMatchObject({
      List: { items: { $ref: '#/components/schemas/Node' } },
      Node: { properties: { list: { $ref: '#/components/schemas/List' } } },
    });
  });

  it('within themselves are references, wherever they begin', () => {
    const listOf = (item: TSchema) => Type.Object({ items: Type.Array(item) }, { $id: 'List' });
    const Node = Type.Recursive((This) => Type.Union([Type.String(), listOf(This)]), { $id: 'Node' });
    const components = new SchemaComponents();
    components.write(Type.Union([listOf(Node), Node]));
    expect(components.schemas).toMatchObject({
      List: { properties: { items: { items: { $ref: '#/components/schemas/Node' } } } },
      Node: { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/List' }] },
    });
  });

  it('to choose from name their discriminator', () => {
    const member = (name: string) => Type.Object({ '@type': Type.Literal(name) }, { $id: name.toUpperCase() });
    const components = new SchemaComponents();
    expect(
      components.write(Type.Union([member('a'), member('b')], { discriminator: { propertyName: '@type' } })),
    ).toEqual({
      oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }],
      discriminator: {
        propertyName: '@type',
        mapping: { a: '#/components/schemas/A', b: '#/components/schemas/B' },
      },
    });
    const choice = Type.Union([Type.Literal('up'), Type.Literal('down')], { description: 'Where to.' });
    expect(components.write(choice)).toEqual({ type: 'string', enum: ['up', 'down'], description: 'Where to.' });
  });

  it('keep data and properties that are named like keywords', () => {
    const schema = Type.Object(
      { $ref: Type.String({ default: 'a' }), $id: Type.Literal('x') },
      { examples: [{ $id: 'y' }] },
    );
    expect(new SchemaComponents().write(schema)).toMatchObject({
      properties: { $ref: { type: 'string', default: 'a' }, $id: { const: 'x' } },
      examples: [{ $id: 'y' }],
    });
  });

  it('are named after their method', () => {
    const names = {
      getAddressInformation: 'AddressInformation',
      tryLocateTx: 'LocateTx',
      sendBoc: 'SendBoc',
      getaway: 'Getaway',
    };
    for (const [name, expected] of Object.entries(names))
      expect(schemaNameOf({ name } as AnyEndpoint<never>), name).toBe(expected);
    expect(schemaNameOf({ name: 'a', schemaName: 'Other' } as AnyEndpoint<never>)).toBe('Other');
  });
});
