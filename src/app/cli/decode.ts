import process from 'node:process';
import { Command } from 'commander';
import { readInput } from '#app/cli/decode-input.js';
import { describeOtherBytes, type KnownContent, knownCodeName, knownContent } from '#app/cli/decode-known.js';
import { cellTreeLines, type TreeLook } from '#app/cli/decode-tree.js';
import type { CliEnvironment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { BOC_MAGIC, type Boc, type BocHeader, parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { Cell, CellType } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { Slice } from '#formats/cells/slice.js';
import { decodeConfigParam } from '#formats/tlb/config/config-params.js';
import { decodeAs, knownTypes, type Recognized, recognizeCell } from '#formats/tlb/recognize.js';
import {
  EXTRA_STEP,
  keyText,
  type LeafValue,
  type Place,
  pathOf,
  type ValueVisitor,
  type VisitedNode,
  walkValue,
} from '#formats/tlb/walk-value.js';
import { BitString, toBase64, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

interface DecodeOptions {
  readonly tree?: boolean;
  readonly full?: boolean;
  readonly type?: string;
}

/** Masterchain addresses (`-1:3333…`) start like options: they are separated here. */
class DecodeCommand extends Command {
  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    const isAddress = (arg: string) => /^-\d+:/.test(arg);
    const { operands, unknown } = super.parseOptions(args.filter((arg) => !isAddress(arg)));
    return { operands: [...args.filter(isAddress), ...operands], unknown };
  }
}

/** `tern decode`: detects the type of a BoC and prints its content. */
export function decodeCommand(environment: CliEnvironment): Command {
  return new DecodeCommand('decode')
    .description(
      'detect the type of a BoC (block, state, account, transaction, message, config, proof) and print its content',
    )
    .argument('<input>', 'a file, hex, base64, or - for standard input; or an address, to print its forms')
    .option('-t, --tree', 'print a cell tree instead of JSON')
    .option('--full', 'in JSON, repeat equal parts; in a tree, print whole data and hashes')
    .option('--type <type>', `decode as this TL-B type: ${knownTypes.join(', ')}`)
    .action((input: string, options: DecodeOptions, command: Command) => {
      const write = command.configureOutput().writeOut ?? ((text: string) => void process.stdout.write(text));
      const [, second] = command.args;
      if (second !== undefined) throw cliErrors.usage({ problem: `decode takes one input; unexpected "${second}"` });
      const writeJson = (json: Json) => write(`${jsonText(json)}\n`);
      const read = readInput(input);
      if (read.source === 'address') return writeJson(addressForms(read.text));
      const other = describeOtherBytes(read.bytes, input);
      if (other !== null) return writeJson(tlbToJson(other));
      const boc = parseBoc(read.bytes);
      const look = { width: columns(options), hasColour: hasColour(environment) };
      if (options.tree === true) for (const root of boc.roots) writeTree(root, options, look, write);
      else writeJson(describe(read.bytes, boc, options));
    });
}

const USUAL_WIDTH = 80;

/** Of a terminal, or of none; null: lines are not shortened. */
function columns({ full }: DecodeOptions): number | null {
  return full === true ? null : Math.max(USUAL_WIDTH, process.stdout.columns ?? USUAL_WIDTH);
}

/** On a terminal, unless NO_COLOR is set (https://no-color.org). */
function hasColour({ NO_COLOR: none = '' }: CliEnvironment): boolean {
  return process.stdout.isTTY === true && none === '';
}

/** Omits the indentation if deep nesting would exceed the maximum string length. */
function jsonText(json: Json): string {
  try {
    return JSON.stringify(json, null, 2);
  } catch (error) {
    if (error instanceof RangeError) return JSON.stringify(json);
    throw error;
  }
}

function describe(bytes: Uint8Array, boc: Boc, options: DecodeOptions): Json {
  const roots = boc.roots.map((root, i) => {
    try {
      return describeRoot(root, options);
    } catch (error) {
      throw isTernError(error) && boc.roots.length > 1 ? error.within(`roots[${i}]`) : error;
    }
  });
  const file = {
    file_hash: toHex(sha256(bytes)),
    bytes: bytes.length,
    cells: boc.header.cellCount,
    format: formatOf(boc.header),
  };
  return roots.length === 1 ? { ...(roots[0] as object), boc: file } : { roots, boc: file };
}

function describeRoot(root: Cell, options: DecodeOptions): Json {
  const { type, value, facts } = recognize(root, options);
  return {
    type,
    ...facts,
    hash: toHex(root.hash()),
    value: tlbToJson(value, { full: options.full === true, describe: describeConfigParam }),
  };
}

function recognize(root: Cell, options: DecodeOptions): Recognized & Partial<KnownContent> {
  if (options.type === undefined) {
    const recognized = recognizeCell(root);
    return { ...recognized, ...(knownContent(root, recognized) ?? {}) };
  }
  const decoded = decodeAs(options.type, root);
  if (decoded === null) throw cliErrors['no-such-type']({ type: options.type, known: knownTypes.join(', ') });
  return decoded;
}

/**
 * Decodes a configuration parameter by its number. Networks have used numbers for other purposes than in the schema: such a
 * cell is shown undecoded, with the reason.
 */
function describeConfigParam(cell: Cell, place: Place | null): unknown {
  const inConfig = typeof place?.key === 'number' && (place.parent === null || place.parent.step === 'config');
  if (!inConfig) return undefined;
  try {
    const { name, value } = decodeConfigParam(place.key as number, cell);
    return name === null ? undefined : { [name]: value };
  } catch (error) {
    if (isTernError(error)) return { '@problem': `${error.code}: ${error.message}`, cell: new Slice(cell) };
    throw error;
  }
}

function writeTree(root: Cell, options: DecodeOptions, look: TreeLook, write: (text: string) => void): void {
  write(`${treeTitle(root, options)}\n`);
  for (const line of cellTreeLines(root, look)) write(`${line}\n`);
}

/** A tree also shows invalid structures: undecodable parts are not named. */
function treeTitle(root: Cell, options: DecodeOptions): string {
  try {
    const { type, note } = recognize(root, options);
    return note === undefined ? type : `${type}: ${note}`;
  } catch (error) {
    if (isTernError(error) && options.type === undefined) return `Cell (not decoded: ${error.message})`;
    throw error;
  }
}

function formatOf(header: BocHeader): string {
  const names = Object.entries(BOC_MAGIC).filter(([, magic]) => magic === header.magic);
  const parts = [
    names[0]?.[0] ?? '',
    header.hasIndex ? 'index' : '',
    header.hasCrc32c ? 'crc32c' : '',
    header.hasCacheBits ? 'cache bits' : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Limit of printed values: in a malicious BoC, shared cells can expand exponentially. */
const MOST_VALUES = 3_000_000;

/** Maximum length in characters of a repeated BoC that is printed again. */
const SHORT_BOC = 100;

interface JsonOptions {
  /** Print repeated values in full; by default they refer to the first occurrence. */
  readonly full?: boolean;
  /** Decodes an opaque cell by its place, if known. */
  readonly describe?: (cell: Cell, place: Place | null) => unknown;
}

/**
 * Converts a decoded value to JSON: names as in TL-B, bigints as decimal strings, bytes as hex, addresses in raw form. A value
 * in a separate cell has `@hash`; data without a schema is a BoC in base64 (`@boc`); a pruned part is
 * `{ "@pruned": hash }`; a repeated part is `{ "@hash": hash, "@shown": path }`.
 *
 * @throws errors of decoding a part, with its path; cli/too-large
 */
function tlbToJson(value: unknown, options: JsonOptions = {}): Json {
  const writer = new JsonWriter(options);
  walkValue(value, writer);
  return writer.result;
}

/** A part whose children are being written. */
interface Open {
  readonly place: Place | null;
  readonly json: Json[] | Record<string, Json>;
  readonly kind: VisitedNode['kind'];
  /** Hash of a value in a separate cell. */
  readonly hash: string | null;
  /** The value of a lazy part. */
  value: Json;
}

class JsonWriter implements ValueVisitor {
  readonly #options: JsonOptions;
  /** Path of the first occurrence of a cell, by hash. */
  readonly #shown = new Map<string, string>();
  readonly #open: Open[] = [];
  #left = MOST_VALUES;
  result: Json = null;

  constructor(options: JsonOptions) {
    this.#options = options;
  }

  enter(node: VisitedNode, place: Place | null): boolean {
    this.#spend(1);
    switch (node.kind) {
      case 'leaf':
        this.#put(place, leafJson(node.value));
        return false;
      case 'pruned':
        this.#put(place, { '@pruned': toHex(node.cell.hash(0)) });
        return false;
      case 'opaque':
        this.#put(place, node.value instanceof Cell ? this.#opaqueCell(node.value, place) : this.#rest(node.value));
        return false;
      case 'lazy': {
        const hash = toHex(node.value.cell.hash(0));
        const shown = this.#shownAt(hash, place);
        if (shown === null) this.#open.push({ place, json: {}, kind: node.kind, hash, value: null });
        else this.#put(place, { '@hash': hash, '@shown': shown });
        return shown === null;
      }
      default:
        this.#open.push({ place, json: node.kind === 'array' ? [] : {}, kind: node.kind, hash: null, value: null });
        return true;
    }
  }

  leave(): void {
    const { place, json, hash, value } = this.#open.pop()!;
    this.#put(place, hash === null ? json : withHash(hash, value));
  }

  #put(place: Place | null, json: Json): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) this.result = json;
    else if (parent.hash !== null) parent.value = json;
    else if (Array.isArray(parent.json)) parent.json.push(json);
    else parent.json[parent.kind === 'dictionary' ? entryName(place!) : place!.step] = json;
  }

  #opaqueCell(cell: Cell, place: Place | null): Json {
    const hash = toHex(cell.hash(0));
    if (cell.type === CellType.libraryReference) {
      return { '@hash': hash, '@library': toHex(cell.bytes.subarray(cell.dataOffset + 1, cell.dataOffset + 33)) };
    }
    const described = this.#options.describe?.(cell, place);
    if (described === undefined) {
      const boc = this.#boc(cell);
      const shown = boc.length <= SHORT_BOC ? null : this.#shownAt(hash, place);
      const name = place?.step === 'code' ? knownCodeName(cell) : null;
      const named = name === null ? {} : { '@contract': name };
      return shown === null ? { '@hash': hash, ...named, '@boc': boc } : { '@hash': hash, ...named, '@shown': shown };
    }
    const open: Open = { place, json: {}, kind: 'lazy', hash, value: null };
    this.#open.push(open);
    walkValue(described, this, place);
    this.#open.pop();
    return withHash(hash, open.value);
  }

  /** Path of the first occurrence of a cell; `null`, and recorded, when this is the first. */
  #shownAt(hash: string, place: Place | null): string | null {
    if (this.#options.full === true) return null;
    const shown = this.#shown.get(hash);
    if (shown === undefined) this.#shown.set(hash, pathOf(place));
    return shown ?? null;
  }

  #rest(slice: Slice): Json {
    return { '@boc': this.#boc(new Builder().storeSlice(slice).endCell()) };
  }

  /** Counts one value per 64 characters. */
  #boc(cell: Cell): string {
    const text = toBase64(serializeBoc(cell));
    this.#spend(text.length >> 6);
    return text;
  }

  #spend(values: number): void {
    this.#left -= values;
    if (this.#left < 0) throw cliErrors['too-large']({ values: MOST_VALUES });
  }
}

function leafJson(value: LeafValue): Json {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Address) return value.toRaw();
  if (value instanceof BitString) return value.toString();
  return value;
}

/** The key of a dictionary entry; `@extra` for the extra value. */
function entryName(place: Place): string {
  return place.step === EXTRA_STEP ? '@extra' : keyText(place.key);
}

/** A value in a separate cell. */
function withHash(hash: string, value: Json): Json {
  return isJsonObject(value) ? { '@hash': hash, ...value } : { '@hash': hash, value };
}

function isJsonObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All forms of an address. @throws address/* when invalid */
function addressForms(text: string): Json {
  const { address } = parseAddress(text);
  const hasFriendly = address.workchain >= -128 && address.workchain <= 127;
  return {
    type: 'address',
    raw: address.toRaw(),
    ...(hasFriendly ? { mainnet: friendly(address, false), testnet: friendly(address, true) } : {}),
  };
}

function friendly(address: Address, testnet: boolean): Json {
  return {
    bounceable: address.toFriendly({ bounceable: true, testnet }),
    non_bounceable: address.toFriendly({ bounceable: false, testnet }),
  };
}
