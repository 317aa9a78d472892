import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openApiDocument } from '#api/http/openapi.js';
import { v3Description } from '#api/v3/v3-api.js';
import { documentFacts } from '#test/contract/openapi-facts.js';

const committed = documentFacts(parse(readFileSync('openapi/v3.yaml', 'utf8')));

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
