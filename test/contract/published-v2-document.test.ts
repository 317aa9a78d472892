import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openApiDocument } from '#api/http/openapi.js';
import { v2Description } from '#app/service/apis.js';
import { type Difference, differencesOf, isListed } from '#test/contract/openapi-differences.js';
import { documentFacts, factsOfTree, treeOfFacts } from '#test/contract/openapi-facts.js';

const published = factsOfTree(JSON.parse(readFileSync('vectors/openapi/v2-2.1.1.json', 'utf8')));
const committed = documentFacts(parse(readFileSync('openapi/v2.yaml', 'utf8')));

describe('openapi/v2.yaml and the published document of API v2', () => {
  it('have the same paths', () => {
    const paths = (facts: ReadonlyMap<string, unknown>) =>
      [...new Set([...facts.keys()].map((at) => /^operations\/[A-Z]+ ([^/]+)$/.exec(at)?.[1]))].sort();
    expect(paths(committed)).toEqual(paths(published));
    expect(paths(published).filter((path) => path !== undefined)).toHaveLength(34);
  });
});

it('the document of the toncenter profile has the published names of types', () => {
  const live = documentFacts(openApiDocument(v2Description, 'toncenter'));
  const isName = ({ at }: Difference) => /\/@type\/const$|\/@type of /.test(at);
  const inRequests = ({ at }: Difference) => /Request\/stack\//.test(at);
  const names = differencesOf(published, live).filter(isName);
  expect(names.filter((difference) => !inRequests(difference))).toEqual([]);
});

describe('a comparison of documents', () => {
  const document = (schema: object, parameters: object[] = []) => ({
    paths: {
      '/api/v2/getA': {
        get: { parameters, responses: { 200: { content: { 'application/json': { schema } } } } },
      },
    },
    components: { schemas: { A: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } } } },
  });
  const whole = documentFacts(document({ $ref: '#/components/schemas/A' }));
  const at = (other: object, parameters?: object[]) =>
    differencesOf(whole, documentFacts(document(other, parameters))).map((difference) => difference.at);

  it('finds another type, and a parameter that is new', () => {
    expect(at({ $ref: '#/components/schemas/A' })).toEqual([]);
    expect(at({ type: 'string' })).toEqual(['operations/GET getA/200/type']);
    const parameter = { name: 'p', in: 'query', schema: { type: 'integer', minimum: 1 } };
    expect(at({ $ref: '#/components/schemas/A' }, [parameter])).toEqual(['operations/GET getA/query']);
  });

  it('finds each change of a field', () => {
    const field = { type: 'string', format: 'int64', minimum: 1, maximum: 2, default: 3, enum: ['a', 'b'] };
    const changes = [
      { type: 'integer' },
      { format: 'int32' },
      { minimum: 0 },
      { maximum: 3 },
      { default: 1 },
      { enum: ['a'] },
    ];
    const facts = (schema: object) => documentFacts(document({ type: 'object', properties: { f: schema } }));
    for (const change of changes) {
      const [name] = Object.keys(change);
      const places = differencesOf(facts(field), facts({ ...field, ...change })).map((difference) => difference.at);
      expect(places.length, name).toBeGreaterThan(0);
    }
  });

  it('keeps facts in a tree without loss', () => {
    expect(factsOfTree(treeOfFacts(whole))).toEqual(whole);
    expect(factsOfTree(treeOfFacts(committed))).toEqual(committed);
  });

  it('lists by place and by values', () => {
    const difference = { at: 'schemas/A/a/type', published: 'string', tern: null };
    const list = (entry: object) => isListed(difference, { at: 'schemas/*/type', reason: '', ...entry });
    expect(list({})).toBe(true);
    expect(list({ at: 'schemas/*' })).toBe(true);
    expect(list({ at: 'schemas/A' })).toBe(false);
    expect(list({ published: 'str*', tern: null })).toBe(true);
    expect(list({ published: 'integer' })).toBe(false);
    expect(list({ tern: '*' })).toBe(false);
  });
});
