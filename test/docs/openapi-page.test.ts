import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openApiDocument } from '#api/http/openapi.js';
import { DOCUMENTED, openApiPage, WRITTEN, writtenPage } from './openapi-page.js';

describe.each(Object.entries(DOCUMENTED))('%s', (file, api) => {
  const committed = readFileSync(file, 'utf8');

  it('is what the endpoints say; npm run docs:openapi writes it again', () => {
    expect(committed).toBe(openApiPage(api));
  });

  it('says in YAML just what the service says in JSON', () => {
    expect(parse(committed)).toEqual(openApiDocument(api, 'spec'));
  });
});

describe.each(Object.entries(WRITTEN))('%s', (file, [path, document]) => {
  it('is what the service says; npm run docs:openapi writes it again', () => {
    const committed = readFileSync(file, 'utf8');
    expect(committed).toBe(writtenPage(path, document));
    expect(parse(committed)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('refers to schemas that there are', () => {
    const v3 = openApiDocument(DOCUMENTED['openapi/v3.yaml']!, 'spec');
    const all: Readonly<Record<string, object>> = {
      '': document,
      '/api/v3/openapi.json': v3,
      '/api/streaming/openapi.json': WRITTEN['openapi/streaming.yaml']![1],
    };
    const found = [...JSON.stringify(document).matchAll(/"\$ref":"([^"#]*)#\/([^"]*)"/g)];
    expect(found.length).toBeGreaterThan(5);
    for (const [whole, name, pointer] of found) {
      const at = pointer!
        .split('/')
        .reduce((value: unknown, key) => (value as Record<string, unknown>)?.[key], all[name!]);
      expect(at, whole).toBeTypeOf('object');
    }
  });
});
