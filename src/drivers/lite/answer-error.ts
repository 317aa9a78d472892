import type { LiteServerError } from '#formats/tl/generated/lite-server.js';

/**
 * What a `liteServer.error` means for the one who asked.
 *
 * - `missing`: this server does not have it; another one may
 * - `not-ready`: it will have it in a moment
 * - `expired`: the wait for a block ended before it came
 * - `unsupported`: this server does not know the function, or does not allow it
 * - `failed`: something in the server; another one may answer
 * - `refused`: the request is at fault, as far as this server can tell
 */
export type AnswerErrorKind = 'missing' | 'not-ready' | 'expired' | 'unsupported' | 'failed' | 'refused';

const NOT_FOUND = /not in db|block not found|not found in db/;
const NOT_YET = /is not applied|not ready|too big masterchain block seqno/;
/** Of a block that other servers have shown already: this one is behind, or follows another chain. */
const BEHIND = /newer than the reference masterchain block/;
const STRANGE = /is unknown from the perspective of reference block/;
const TOO_OFTEN = /too many (requests|queries)|rate limit/i;

/** Codes and texts are those of the reference implementation, and of proxies in front of it. */
export function answerErrorKind({ code, message }: LiteServerError): AnswerErrorKind {
  if (message.startsWith('cannot apply external message')) return 'refused';
  switch (code) {
    case 651:
      return NOT_YET.test(message) ? 'not-ready' : 'missing';
    case 652:
      return 'expired';
    case 621:
      return 'unsupported';
    case 0:
      if (/^(Unknown constructor|query is not allowed)/.test(message)) return 'unsupported';
      break;
    case 429:
    case 601:
    case 602:
    case 653:
    case -503:
      return 'failed';
    default:
  }
  if (BEHIND.test(message)) return 'not-ready';
  if (NOT_FOUND.test(message) || STRANGE.test(message)) return 'missing';
  return TOO_OFTEN.test(message) ? 'failed' : 'refused';
}
