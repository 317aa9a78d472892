import { decodeMessageBody } from '#domain/message-bodies/decode-message-body.js';
import type { Cell } from '#formats/cells/cell.js';
import { bodyCell, recordedBodies } from '../test/support/message-bodies.js';
import type { BenchCase } from './harness.js';
import type { BenchSuite } from './suite.js';

/** Bodies whose JSON has this name, and so this layout. */
function bodiesOf(type: string): readonly Cell[] {
  const found = recordedBodies.filter(({ decoded }) => (decoded as { '@type'?: string } | null)?.['@type'] === type);
  if (found.length === 0) throw new Error(`there is no ${type} among the recorded bodies`);
  return found.map(({ body }) => bodyCell(body));
}

function decodingCase(name: string, bodies: readonly Cell[]): BenchCase {
  return { name, unit: 'bodies', work: bodies.length, ours: () => bodies.map((body) => decodeMessageBody(body)) };
}

/** How fast bodies of messages become JSON: this is done for each message that an answer shows. */
export const suite: BenchSuite = {
  name: 'bodies',
  cases: () => [
    ...['text_comment', 'excess', 'jetton_transfer', 'jetton_notify', 'nft_transfer', 'wallet_signed_v4'].map((type) =>
      decodingCase(type, bodiesOf(type)),
    ),
    decodingCase(
      'one of each kind',
      recordedBodies.map(({ body }) => bodyCell(body)),
    ),
  ],
};
