import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBocBase64 } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { fromBase64, fromHex, toBase64 } from '#kernel/bytes.js';

/** An external-in message that somebody pasted. */
export interface ExternalIn {
  /** BoC in base64. */
  readonly boc: string;
  /** Base64. */
  readonly hash: string;
  /** TEP-467: without source, import fee and state init, body in a reference. */
  readonly hashNorm: string;
  readonly destination: Address;
  readonly hasInit: boolean;
  /** BoC of the body, base64. */
  readonly body: string;
}

/** A cell that is something else. */
export interface OtherCell {
  readonly boc: string;
  readonly hash: string;
  readonly problem: string;
}

/** Longest text that is looked at. */
export const MOST_TEXT = 2_000_000;

/** What a pasted BoC (base64, base64url or hex) contains; null when it is none. */
export function readMessage(text: string): ExternalIn | OtherCell | null {
  const compact = text.replaceAll(/\s+/g, '');
  const bytes = fromHex(compact) ?? fromBase64(compact);
  if (bytes === null || bytes.length === 0) return null;
  let root: Cell;
  try {
    root = parseBocRoot(bytes);
  } catch {
    return null;
  }
  const boc = toBase64(bytes);
  const hash = toBase64(root.hash());
  try {
    return { boc, hash, ...externalIn(root) };
  } catch (error) {
    return { boc, hash, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** ext_in_msg_info$10 src:MsgAddressExt dest:MsgAddressInt import_fee:Grams, init, body */
function externalIn(root: Cell): Pick<ExternalIn, 'destination' | 'hasInit' | 'body' | 'hashNorm'> {
  const slice = openCell(root);
  if (slice.loadUint(2) !== 0b10) throw new TypeError('It is a cell, but no external-in message.');
  if (slice.loadUint(2) === 0b01) slice.skip(slice.loadUint(9));
  if (slice.loadUint(2) !== 0b10 || slice.loadBit()) throw new TypeError('Its destination is no standard address.');
  const destination = Address.ofParts(slice.loadInt(8), slice.loadBytes(32));
  slice.skip(slice.loadUint(4) * 8);
  const hasInit = slice.loadBit();
  if (hasInit) skipInit(slice);
  const body = slice.loadBit() ? slice.loadRef() : restOf(slice);
  const normal = new Builder()
    .storeUint(0b10, 2)
    .storeUint(0, 2)
    .storeUint(0b100, 3)
    .storeInt(destination.workchain, 8);
  normal.storeBytes(destination.hash).storeUint(0, 4).storeBit(false).storeBit(true).storeRef(body);
  return { destination, hasInit, body: serializeBocBase64(body), hashNorm: toBase64(normal.endCell().hash()) };
}

/** init:(Either StateInit ^StateInit) */
function skipInit(slice: Slice): void {
  if (slice.loadBit()) {
    slice.loadRef();
    return;
  }
  if (slice.loadBit()) slice.skip(5);
  if (slice.loadBit()) slice.skip(2);
  for (let part = 0; part < 3; part++) if (slice.loadBit()) slice.loadRef();
}

function restOf(slice: Slice): Cell {
  return new Builder().storeSlice(slice.takeRest()).endCell();
}
