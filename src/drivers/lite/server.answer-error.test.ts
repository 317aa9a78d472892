import { describe, expect, it } from 'vitest';
import { type AnswerErrorKind, answerErrorKind } from '#drivers/lite/server.js';

/** As the reference liteserver said them to recorded queries; the last ones are those of proxies and of busy servers. */
const rows: [number, string, AnswerErrorKind][] = [
  [651, 'block handle not in db (last known masterchain block: 1048)', 'missing'],
  [651, 'cannot load block (-1,8000000000000000,5):AB:CD : not in db', 'missing'],
  [651, 'cannot find block (0,8000000000000000) seqno=9: seqno not in db', 'missing'],
  [
    651,
    'cannot find block (0,8000000000000000) lt=9: ltdb: block not found (possibly out of sync: shard_client_seqno=1 ls_seqno=1)',
    'missing',
  ],
  [651, 'too big masterchain block seqno', 'not-ready'],
  [651, 'block (0,8000000000000000,9):AB:CD is not applied', 'not-ready'],
  [651, 'cannot apply external message to current state : no shard in masterchain state for account 7:0xAB', 'refused'],
  [652, 'timeout', 'expired'],
  [653, 'cancelled', 'failed'],
  [-503, 'timeout', 'failed'],
  [621, 'unknown query', 'unsupported'],
  [0, 'Unknown constructor found 0xdeadbeef at 4', 'unsupported'],
  [0, 'query is not allowed', 'unsupported'],
  [0, "Variable of type # can't be negative at 8", 'refused'],
  [0, 'Too much data to fetch at 88', 'refused'],
  [0, "specified mc block is older than block's masterchain ref", 'refused'],
  [-400, 'invalid BlockIdExt', 'refused'],
  [-400, 'cannot compute block with specified transaction: cannot find block (0,8) lt=5: lt not in db', 'missing'],
  [
    -400,
    'client knows block (-1,8000000000000000,9):AB:CD newer than the reference masterchain block (-1,8000000000000000,8):AB:CD',
    'not-ready',
  ],
  [
    -400,
    'proof source masterchain block (-1,8000000000000000,9):AB:CD is unknown from the perspective of reference block (-1,8000000000000000,9):AB:EF',
    'missing',
  ],
  [-400, 'cannot locate transaction in block with specified logical time', 'refused'],
  [-701, 'cannot apply external message to current state : External message was not accepted', 'refused'],
  [429, 'slow down', 'failed'],
  [228, 'too many requests', 'failed'],
];

describe('errors of servers', () => {
  it('mean what they mean', () => {
    for (const [code, message, kind] of rows) {
      expect(answerErrorKind({ code, message }), `${code}: ${message}`).toBe(kind);
    }
  });
});
