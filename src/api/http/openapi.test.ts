import { type TSchema, Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { openApiDocument, schemaNameOf } from '#api/http/openapi.js';
import { SchemaComponents } from '#api/http/openapi-schemas.js';
import { errorCode } from '#test/support/error-code.js';
import { FakeWorld, fakeApi } from '#test/support/fake-http-api.js';

const document = openApiDocument(fakeApi(new FakeWorld()), 'spec') as any;

/** All `$ref` of a document. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

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
      const found = reference
        .split('/')
        .slice(1)
        .reduce((at: any, step) => at?.[step], document);
      expect(found, reference).toBeTypeOf('object');
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

  it('to choose from say what they are told apart by', () => {
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
