import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { BOC_MAGIC } from '#formats/cells/boc-header.js';
import { fromBase64 } from '#kernel/bytes/bytes.js';
import { isArchivePack, readArchivePack } from '#localnet/replay/archive-pack.js';
import { replayErrors } from '#localnet/replay/errors.js';

/** A bag of cells that stands in a file of the folder, in an archive pack or alone. */
export interface RecordedBag {
  /** How errors name it: the file, and the place in it. */
  readonly file: string;
  /** The name that it has in a pack; `null` where it has none. */
  readonly name: string | null;
  readonly bytes: Uint8Array;
}

/** A client's configuration that lies in the folder. */
export interface RecordedConfig {
  readonly file: string;
  readonly config: unknown;
}

/** What a folder holds. */
export interface RecordedFolder {
  readonly folder: string;
  readonly bags: readonly RecordedBag[];
  readonly configs: readonly RecordedConfig[];
}

/**
 * Reads all files of a folder, without its subfolders: archive packs (`*.pack`, `*.pack.gz`, and what begins as one),
 * lines of JSON (`*.jsonl`, `*.jsonl.gz`), bags of cells (`*.boc`, `*.boc.gz`, and what begins as one), configurations
 * (`*.config.json`). Each may end in `.br` instead of `.gz`. What is none of these is left alone.
 *
 * @throws replay/unreadable-folder, replay/unreadable-file, replay/not-a-pack, replay/torn-pack, replay/damaged-pack,
 *   replay/bad-line, replay/bad-file
 */
export function readFolder(folder: string): RecordedFolder {
  const bags: RecordedBag[] = [];
  const configs: RecordedConfig[] = [];
  for (const file of namesIn(folder)) {
    const bytes = readPlain(join(folder, file), file);
    const plainName = file.replace(/\.(gz|br)$/, '');
    if (plainName.endsWith('.config.json')) {
      configs.push({ file, config: parseJson(bytes, file) });
    } else if (plainName.endsWith('.jsonl')) {
      bags.push(...readLines(bytes, file));
    } else if (plainName.endsWith('.pack') || isArchivePack(bytes)) {
      for (const { name, offset, data } of readArchivePack(bytes, file)) {
        if (isBag(data)) bags.push({ file: `${file}, entry at byte ${offset}`, name, bytes: data });
      }
    } else if (isBag(bytes)) {
      bags.push({ file, name: null, bytes });
    } else if (plainName.endsWith('.boc')) {
      throw replayErrors['bad-file']({ file, problem: 'it does not begin as a bag of cells' });
    }
  }
  return { folder, bags, configs };
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    throw replayErrors['unreadable-folder']({ folder, problem: problemOf(error) }, error);
  }
}

function readPlain(path: string, file: string): Uint8Array {
  try {
    const bytes = readFileSync(path);
    const plain = file.endsWith('.gz') ? gunzipSync(bytes) : file.endsWith('.br') ? brotliDecompressSync(bytes) : bytes;
    return new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
  } catch (error) {
    throw replayErrors['unreadable-file']({ file, problem: problemOf(error) }, error);
  }
}

function problemOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined || code === 'ENOENT' ? message : `${message} (${code})`;
}

const magics: ReadonlySet<number> = new Set(Object.values(BOC_MAGIC));

function isBag(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && magics.has(new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0));
}

function parseJson(bytes: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw replayErrors['bad-file']({ file, problem: `it is no JSON: ${(error as Error).message}` }, error);
  }
}

/** Blocks as lines of JSON: `{"name": "block_(…)…", "data": "base64"}`, the name being optional. */
function* readLines(bytes: Uint8Array, file: string): Generator<RecordedBag> {
  let line = 0;
  for (const text of new TextDecoder().decode(bytes).split('\n')) {
    line++;
    if (text.trim() === '') continue;
    let value: { readonly name?: unknown; readonly data?: unknown } | null;
    try {
      value = JSON.parse(text) as typeof value;
    } catch (error) {
      throw replayErrors['bad-line']({ file, line, problem: `is no JSON: ${(error as Error).message}` }, error);
    }
    const { name = null, data } = value ?? {};
    if (name !== null && typeof name !== 'string') {
      throw replayErrors['bad-line']({ file, line, problem: 'has a "name" that is no string' });
    }
    const bag = typeof data === 'string' ? fromBase64(data) : null;
    if (bag === null || !isBag(bag)) {
      throw replayErrors['bad-line']({ file, line, problem: 'has no "data" that is base64 of a bag of cells' });
    }
    yield { file: `${file}, line ${line}`, name, bytes: bag };
  }
}
