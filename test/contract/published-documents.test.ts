import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { differencesOf, isListed, type ListedDifference } from '#test/contract/openapi-differences.js';
import { documentFacts, factsOfTree } from '#test/contract/openapi-facts.js';

/** Folder with the published documents, which may not be copied into this repository. */
const publishedFolder = process.env.TERN_PUBLISHED_DOCUMENTS;

/** For each API: our document, what is kept of the published one, that one, and the list of differences. */
const DOCUMENTS = [
  {
    committed: 'openapi/v2.yaml',
    extract: 'vectors/openapi/v2-2.1.1.json',
    published: 'ton-org-docs__v2.1.1__b28afb9e.json',
    list: 'openapi/differences.json',
  },
  {
    committed: 'openapi/v3.yaml',
    extract: 'vectors/openapi/v3-1.2.4-rc.json',
    published: 'ton-org-docs__v3-1.2.4-rc__b28afb9e.yaml',
    list: 'openapi/v3-differences.json',
  },
];

describe.each(DOCUMENTS)('$committed and the published document', ({ committed, extract, published, list }) => {
  const facts = factsOfTree(JSON.parse(readFileSync(extract, 'utf8')));
  const listed: ListedDifference[] = JSON.parse(readFileSync(list, 'utf8'));
  const found = differencesOf(facts, documentFacts(parse(readFileSync(committed, 'utf8'))));

  it(`differ only where ${list} says so`, () => {
    expect(found.filter((difference) => !listed.some((entry) => isListed(difference, entry)))).toEqual([]);
  });

  it('differ in all that is listed, each for a reason', () => {
    expect(listed.filter((entry) => !found.some((difference) => isListed(difference, entry)))).toEqual([]);
    for (const { at, reason } of listed) expect(reason.length, at).toBeGreaterThan(15);
  });

  it.skipIf(publishedFolder === undefined)(`${extract} is what the published document says`, () => {
    // JSON is YAML.
    const whole = documentFacts(parse(readFileSync(join(publishedFolder!, published), 'utf8')));
    expect(Object.fromEntries(facts)).toEqual(Object.fromEntries(whole));
  });
});
