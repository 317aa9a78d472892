import { Command } from 'commander';
import { addressForms, readInput } from '#app/cli/decode-input.js';
import { type Json, tlbToJson } from '#app/cli/decode-json.js';
import { cliErrors } from '#app/cli/errors.js';
import { BOC_MAGIC, type Boc, type BocHeader, parseBoc } from '#formats/cells/boc-parse.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { Slice } from '#formats/cells/slice.js';
import { decodeConfigParam } from '#formats/tlb/config/config-params.js';
import { decodeAs, knownTypes, type Recognized, recognizeCell } from '#formats/tlb/recognize.js';
import type { Place } from '#formats/tlb/walk-value.js';
import { BitString, toHex } from '#kernel/bytes.js';
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
export function decodeCommand(): Command {
  return new DecodeCommand('decode')
    .description(
      'detect the type of a BoC (block, state, account, transaction, message, config, proof) and print its content',
    )
    .argument('<input>', 'a file, hex, base64, or - for standard input; or an address, to print its forms')
    .option('-t, --tree', 'print a cell tree instead of JSON')
    .option('--full', 'in JSON, repeat equal parts instead of referring to the first occurrence')
    .option('--type <type>', `decode as this TL-B type: ${knownTypes.join(', ')}`)
    .action((input: string, options: DecodeOptions, command: Command) => {
      const write = command.configureOutput().writeOut ?? ((text: string) => void process.stdout.write(text));
      const [, second] = command.args;
      if (second !== undefined) throw cliErrors.usage({ problem: `decode takes one input; unexpected "${second}"` });
      const writeJson = (json: Json) => write(`${jsonText(json)}\n`);
      const read = readInput(input);
      if (read.source === 'address') return writeJson(addressForms(read.text));
      const boc = parseBoc(read.bytes);
      if (options.tree === true) for (const root of boc.roots) writeTree(root, options, write);
      else writeJson(describe(read.bytes, boc, options));
    });
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
  const { type, value } = recognize(root, options);
  return {
    type,
    hash: toHex(root.hash()),
    value: tlbToJson(value, { full: options.full === true, describe: describeConfigParam }),
  };
}

function recognize(root: Cell, options: DecodeOptions): Recognized {
  if (options.type === undefined) return recognizeCell(root);
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

function writeTree(root: Cell, options: DecodeOptions, write: (text: string) => void): void {
  write(`${treeTitle(root, options)}\n`);
  for (const line of cellTreeLines(root)) write(`${line}\n`);
}

/** A tree also shows invalid structures: undecodable parts are not named. */
function treeTitle(root: Cell, options: DecodeOptions): string {
  try {
    return recognize(root, options).type;
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

const CELL_TYPES: Readonly<Record<CellType, string>> = {
  [CellType.ordinary]: '',
  [CellType.prunedBranch]: 'pruned ',
  [CellType.libraryReference]: 'library ',
  [CellType.merkleProof]: 'Merkle proof ',
  [CellType.merkleUpdate]: 'Merkle update ',
};

/**
 * Prints the cells below `root`, one per line: cell type, data (`x{…}`), number of bits, hash. A repeated cell is only
 * referenced by its hash, so the output is bounded by the BoC.
 */
export function* cellTreeLines(root: Cell): Generator<string> {
  const seen = new Set<string>();
  const stack: { cell: Cell; lead: string; last: boolean }[] = [{ cell: root, lead: '', last: true }];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { cell, lead, last } = entry;
    const hash = toHex(cell.hash());
    const top = cell === root;
    const branch = top ? '' : `${lead}${last ? '└─ ' : '├─ '}`;
    if (seen.has(hash)) {
      yield `${branch}↑ ${hash.slice(0, 16)}… (shown above)`;
      continue;
    }
    seen.add(hash);
    const level = cell.level === 0 ? '' : ` level ${cell.level}`;
    yield `${branch}${CELL_TYPES[cell.type]}x{${dataOf(cell)}} ${cell.bits} bits${level} ${hash}`;
    const below = top ? '' : `${lead}${last ? '   ' : '│  '}`;
    for (let i = cell.refCount - 1; i >= 0; i--)
      stack.push({ cell: cell.ref(i), lead: below, last: i === cell.refCount - 1 });
  }
}

function dataOf(cell: Cell): string {
  const size = (cell.bits + 7) >> 3;
  const bytes = cell.bytes.slice(cell.dataOffset, cell.dataOffset + size);
  if ((cell.bits & 7) !== 0) bytes[size - 1]! &= 0xff << (8 - (cell.bits & 7));
  return new BitString(bytes, cell.bits).toString();
}
