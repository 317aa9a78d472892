import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { jsonText } from '#api/http/endpoint.js';

import { AddressCollector, answerType, integer, writeAnswerJson } from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';

const IndexSpan = answerType(
  'IndexSpan',
  { first: integer('First indexed masterchain seqno.'), last: integer('Last indexed masterchain seqno.') },
  'The masterchain blocks between which the index holds data.',
);

const indexSpan = v3Endpoint({
  name: 'indexSpan',
  verbs: ['GET'],
  tag: 'Stats',
  summary: 'Span of the index',
  description: 'The first and the last masterchain seqno of the index.',
  params: Type.Object({}, { additionalProperties: false }),
  result: IndexSpan.schema,
  statuses: [422, 503, 504],
  freshness: 'head',
  handle: async (_, { network, query, profile }) => {
    const extent = await network.index.extent(query);
    if (extent === null) throw v3Errors['nothing-indexed']({});
    const span = { first: extent.first.seqno, last: extent.last.seqno };
    return jsonText(writeAnswerJson(IndexSpan, span, { profile, addresses: new AddressCollector() }));
  },
});

/** Methods about the span of the index. */
export const indexSpanEndpoints: readonly AnyEndpoint<V3Context>[] = [indexSpan];
