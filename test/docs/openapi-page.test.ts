import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { openApiDocument } from '#api/http/openapi.js';
import { v2Description } from '#app/service/v2-api.js';
import { openApiPage } from './openapi-page.js';

const committed = readFileSync('openapi/v2.yaml', 'utf8');

it('openapi/v2.yaml is what the endpoints say; npm run docs:openapi writes it anew', () => {
  expect(committed).toBe(openApiPage());
});

it('says in YAML just what the service says in JSON', () => {
  expect(parse(committed)).toEqual(openApiDocument(v2Description, 'spec'));
});
