import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openApiDocument } from '#api/http/openapi.js';
import { v3Description } from '#api/v3/description.js';
import { differencesOf, isListed, type ListedDifference } from '#test/contract/openapi-differences.js';
import { documentFacts, factsOfTree } from '#test/contract/openapi-facts.js';

const EXTRACT = 'vectors/openapi/v3-1.2.4-rc.json';
const PUBLISHED = '../shared/reference/openapi/ton-org-docs__v3-1.2.4-rc__b28afb9e.yaml';
const LIST = 'openapi/v3-differences.json';

const published = factsOfTree(JSON.parse(readFileSync(EXTRACT, 'utf8')));
const listed: ListedDifference[] = JSON.parse(readFileSync(LIST, 'utf8'));
const committed = documentFacts(parse(readFileSync('openapi/v3.yaml', 'utf8')));

describe('openapi/v3.yaml and the published document of API v3', () => {
  const found = differencesOf(published, committed);

  it(`differ only where ${LIST} says so`, () => {
    expect(found.filter((difference) => !listed.some((entry) => isListed(difference, entry)))).toEqual([]);
  });

  it('differ in all that is listed, each for a reason', () => {
    expect(listed.filter((entry) => !found.some((difference) => isListed(difference, entry)))).toEqual([]);
    for (const { at, reason } of listed) expect(reason.length, at).toBeGreaterThan(15);
  });
});

it.skipIf(!existsSync(PUBLISHED))(`${EXTRACT} is what the published document says`, () => {
  const facts = documentFacts(parse(readFileSync(PUBLISHED, 'utf8')));
  expect(Object.fromEntries(published)).toEqual(Object.fromEntries(facts));
});

describe('the document of the toncenter profile', () => {
  const live = documentFacts(openApiDocument(v3Description, 'toncenter'));

  it('has the types of the live service', () => {
    expect(live.get('schemas/Message/opcode/type')).toBe('null or string');
    expect(committed.get('schemas/Message/opcode/type')).toBe('integer');
    expect(live.get('schemas/Transaction/in_msg/type')).toBe('Message or null');
    expect(live.get('schemas/Transaction/in_msg/required')).toBe(true);
    expect(committed.get('schemas/Transaction/in_msg/required')).toBe(false);
  });

  it('has the defaults of the live service', () => {
    for (const [place, spec, toncenter] of [
      ['operations/GET transactions/query/limit/default', 10, 100],
      ['operations/GET addressInformation/query/use_v2/default', true, false],
    ] as const) {
      expect([committed.get(place), live.get(place)], place).toEqual([spec, toncenter]);
    }
  });
});
