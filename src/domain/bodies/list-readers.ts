import type { BodyCursor } from '#domain/bodies/body-cursor.js';
import type { JsonObject } from '#domain/bodies/json-value.js';
import type { Reader } from '#domain/bodies/reader.js';

/**
 * `(OutList n)`: as many actions as there are.
 *
 * ```
 * out_list_empty$_ = OutList 0;
 * out_list$_ {n:#} prev:^(OutList n) action:OutAction = OutList (n + 1);
 * ```
 */
export function outListReader(action: Reader): Reader {
  const read: Reader = (from, into, field) => {
    if (!from.spend(40)) return false;
    if (from.isEmpty) {
      into[field] = { '@type': 'out_list_empty' };
      return true;
    }
    const list = { '@type': 'out_list' };
    into[field] = list;
    const prev = from.openRef();
    return prev !== undefined && read(prev, list, 'prev') && action(from, list, 'action');
  };
  return read;
}

/**
 * `(W5ExtendedActionList n)`: goes on while there is a reference.
 *
 * ```
 * extended_list_last$_ action:W5ExtendedAction = W5ExtendedActionList 0;
 * extended_list_action$_ {m:#} action:W5ExtendedAction prev:^(W5ExtendedActionList m) = W5ExtendedActionList (m + 1);
 * ```
 */
export function extendedActionsReader(action: Reader): Reader {
  const read: Reader = (from, into, field) => {
    const last = from.remainingRefs === 0;
    const list = { '@type': last ? 'extended_list_last' : 'extended_list_action' };
    into[field] = list;
    if (!from.spend(50) || !action(from, list, 'action')) return false;
    if (last) return true;
    const prev = from.openRef();
    return prev !== undefined && read(prev, list, 'prev');
  };
  return read;
}

/**
 * `(WalletV1toV4Msgs n)`: a message for each reference that is left.
 *
 * ```
 * msgs_2#_ msg_1:ModeWithMessage msg_2:ModeWithMessage = WalletV1toV4Msgs 2;
 * ```
 */
export function walletMessagesReader(message: Reader): Reader {
  return (from, into, field) => {
    const count = from.remainingRefs;
    const list = { '@type': `msgs_${count}` };
    into[field] = list;
    for (let i = 1; i <= count; i++) if (!message(from, list, `msg_${i}`)) return false;
    return from.spend(40);
  };
}

/**
 * `(TextChunks n)`, with `n` from a field before.
 *
 * ```
 * text_chunk$_ {n:#} len:(## 8) data:(bits (len * 8)) next:(TextChunkRef n) = TextChunks (n + 1);
 * text_chunk_empty$_ = TextChunks 0;
 * chunk_ref$_ {n:#} ref:^(TextChunks (n + 1)) = TextChunkRef (n + 1);
 * chunk_ref_empty$_ = TextChunkRef 0;
 * ```
 */
export function textChunksReader(counter: string): Reader {
  return (from, into, field) => {
    const count = Number(into[counter]);
    if (count > 0) return readChunk(from, into, field, count);
    into[field] = { '@type': 'text_chunk_empty' };
    return true;
  };
}

function readChunk(from: BodyCursor, into: JsonObject, field: string, count: number): boolean {
  const length = from.uint(8);
  if (length < 0) return false;
  const data = from.hex(length * 8);
  if (data === undefined || !from.spend(100 + data.length)) return false;
  const next: JsonObject = { '@type': count === 1 ? 'chunk_ref_empty' : 'chunk_ref' };
  into[field] = { '@type': 'text_chunk', len: String(length), data, next };
  if (count === 1) return true;
  const below = from.openRef();
  return below !== undefined && readChunk(below, next, 'ref', count - 1);
}
