import { Type } from '@sinclair/typebox';
import { expect, it } from 'vitest';
import { applyProfileKeywords, byProfile, documentedAs, nullInToncenter } from '#api/http/openapi-schemas.js';

const Inner = { $ref: '#/components/schemas/Inner' };

function documentOf(profile: 'spec' | 'toncenter') {
  const schema = Type.Object(
    {
      always: Type.String(),
      opcode: Type.Optional(
        Type.Unsafe<number>({
          description: 'd',
          ...byProfile({ spec: { type: 'integer' }, toncenter: { type: 'string' } }),
        }),
      ),
      inner: Type.Optional(Type.Unsafe({ ...Inner })),
      rare: Type.Optional(Type.String(documentedAs({ type: 'integer' }))),
    },
    nullInToncenter(['opcode', 'inner']),
  );
  const plain = JSON.parse(JSON.stringify({ components: { schemas: { A: schema } } }));
  applyProfileKeywords(plain, profile);
  return plain.components.schemas.A;
}

it('leaves members without a value out in the document of the spec profile', () => {
  expect(documentOf('spec')).toEqual({
    type: 'object',
    required: ['always'],
    properties: {
      always: { type: 'string' },
      opcode: { description: 'd', type: 'integer' },
      inner: Inner,
      rare: { type: 'integer' },
    },
  });
});

it('has null for them in the document of the toncenter profile', () => {
  expect(documentOf('toncenter')).toEqual({
    type: 'object',
    required: ['always', 'opcode', 'inner'],
    properties: {
      always: { type: 'string' },
      opcode: { description: 'd', type: ['string', 'null'] },
      inner: { anyOf: [Inner, { type: 'null' }] },
      rare: { type: 'integer' },
    },
  });
});
