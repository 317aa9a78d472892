import { codeMethods, interfaceNamesOf } from '#domain/contracts/code-methods.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import { WALLET_CODES } from '#domain/contracts/wallet.js';
import { decodeMessageBody } from '#domain/message-bodies/decode-message-body.js';
import { BOC_MAGIC } from '#formats/cells/boc-parse.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { decodeBoxed, type TlConstructor } from '#formats/tl/constructor.js';
import { LiteServerError, LiteServerQuery, liteServerFunctions } from '#formats/tl/lite-api.js';
import type { Recognized } from '#formats/tlb/recognize.js';
import { toHex } from '#kernel/bytes.js';
import { isArchivePack, readArchivePack } from '#localnet/replay/archive-pack.js';

/** What a cell is beyond its TL-B type. */
export interface KnownContent {
  readonly type: string;
  readonly value: unknown;
  /** Fields for JSON, before the value. */
  readonly facts: Readonly<Record<string, string>>;
  /** The same in a word or two. */
  readonly note: string;
}

const OPCODE_BITS = 32;

/** Types that a short message body may be taken for. */
const WEAK_TYPES: ReadonlySet<string> = new Set(['Cell', 'VmStack', 'StateInit', 'MsgEnvelope']);

/** The contract that a code belongs to, by its hash: `wallet v4 r2`, `jetton_wallet_governed`; null: unknown. */
export function knownCodeName(code: Cell): string | null {
  const hash = toHex(libraryHashOf(code) ?? code.hash());
  return WALLET_CODES.get(hash)?.wallet_type ?? interfaceNamesOf(hash, null)[0] ?? null;
}

/** A contract code by its hash or its get-methods, or a message body by its opcode; null: neither, or the type says more. */
export function knownContent(root: Cell, { type }: Recognized): KnownContent | null {
  if (!WEAK_TYPES.has(type)) return null;
  const contract = knownCodeName(root);
  if (contract !== null) return codeContent(root, contract);
  if (root.type !== CellType.ordinary) return null;
  const body = bodyContent(root);
  if (body !== null) return body;
  const methods = type === 'Cell' ? codeMethods(root) : null;
  if (methods === null || methods.length === 0) return null;
  const names = interfaceNamesOf(toHex(root.hash()), methods);
  return codeContent(root, names.length === 0 ? null : names.join(', '), methods);
}

function codeContent(root: Cell, contract: string | null, methods: readonly number[] | null = codeMethods(root)) {
  const ids = methods === null || methods.length === 0 ? {} : { get_methods: methods.join(', ') };
  const facts = { ...(contract === null ? {} : { contract }), ...ids };
  return { type: 'contract code', value: root, facts, note: contract ?? 'of no known contract' };
}

function bodyContent(root: Cell): KnownContent | null {
  if (root.bits < OPCODE_BITS) return null;
  const opcode = `0x${new Slice(root).preloadUint(OPCODE_BITS).toString(16).padStart(8, '0')}`;
  const { opcodeName: name, decoded } = decodeMessageBody(root);
  if (name === null && decoded === null) return null;
  const facts = { opcode, ...(name === null ? {} : { name }) };
  return { type: 'message body', value: decoded ?? root, facts, note: `${name ?? 'signed'} (${opcode})` };
}

/** Entries of a pack that are named. */
const NAMED_ENTRIES = 20;

/**
 * Describes bytes that are no BoC: an archive pack of a node, or a query or an answer of a liteserver in TL.
 *
 * @param name of the input, for errors
 * @throws replay/damaged-pack, replay/torn-pack
 */
export function describeOtherBytes(bytes: Uint8Array, name: string): object | null {
  if (isArchivePack(bytes)) {
    const names = [...readArchivePack(bytes, name)].map((entry) => entry.name);
    const more = names.length > NAMED_ENTRIES ? { more: names.length - NAMED_ENTRIES } : {};
    return { type: 'archive pack of a node', files: names.length, first: names.slice(0, NAMED_ENTRIES), ...more };
  }
  if (bytes.length < 4 || Object.values<number>(BOC_MAGIC).includes(firstWord(bytes))) return null;
  for (const each of TL_CONSTRUCTORS) {
    if (each.id !== lastWordFirst(bytes)) continue;
    const { name: type, value } = decodeBoxed(bytes, each);
    return { type, value };
  }
  return null;
}

const TL_CONSTRUCTORS: readonly TlConstructor[] = [
  LiteServerError,
  LiteServerQuery,
  ...liteServerFunctions,
  ...new Set(liteServerFunctions.map(({ result }) => result as TlConstructor)),
];

function firstWord(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
}

/** The id of a TL constructor. */
function lastWordFirst(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
}
