import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openApiDocument } from '#api/http/openapi.js';
import { DOCUMENTED, openApiPage } from './openapi-page.js';

describe.each(Object.entries(DOCUMENTED))('%s', (file, api) => {
  const committed = readFileSync(file, 'utf8');

  it('is what the endpoints say; npm run docs:openapi writes it again', () => {
    expect(committed).toBe(openApiPage(api));
  });

  it('says in YAML just what the service says in JSON', () => {
    expect(parse(committed)).toEqual(openApiDocument(api, 'spec'));
  });
});
