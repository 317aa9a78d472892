import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32c } from '#formats/cells/digests.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { makeFolder, readTextFile, writeFileAtomic } from '#kernel/files.js';
import type { Logger } from '#kernel/logger.js';
import { TernError } from '#kernel/tern-error.js';
import { chainErrors } from '#services/chain/errors.js';

/** Persistent store of proven key blocks. Used by one process at a time. */
export interface KeyBlockStore {
  /** The key blocks of earlier runs, oldest first. Damaged entries are dropped. */
  load(): Promise<readonly BlockId[]>;
  /** Appends key blocks, each newer than those before; they are on disk when the promise resolves. */
  append(blocks: readonly BlockId[]): Promise<void>;
  /** Replaces all key blocks; oldest first. */
  replace(blocks: readonly BlockId[]): Promise<void>;
}

export interface KeyBlockFileOptions {
  readonly path: string;
  /** The network of the key blocks. */
  readonly zero_state: BlockId;
}

const FORMAT = 'tern-key-blocks-1';

/**
 * Key blocks in a text file: a line with the network, then one line `SEQNO ROOTHASH FILEHASH` per block; each line ends with
 * a CRC-32C of its content. Lines are appended and synced to disk. A damaged line ends the list: the valid lines before it
 * are written to a new file that replaces the old one.
 */
export class KeyBlockFile implements KeyBlockStore {
  readonly #options: KeyBlockFileOptions;
  readonly #logger: Logger;

  constructor(options: KeyBlockFileOptions, modules: { readonly logger: Logger }) {
    this.#options = options;
    this.#logger = modules.logger;
  }

  /** @throws chain/key-block-network, chain/key-block-file */
  async load(): Promise<readonly BlockId[]> {
    return this.#guard(async () => {
      const text = await this.#read();
      if (text === null) {
        await this.#replace(this.#textOf([]));
        return [];
      }
      const lines = text.split('\n');
      const found = payload(lines[0] ?? '');
      if (found?.startsWith(`${FORMAT} `)) this.#checkNetwork(found.slice(FORMAT.length + 1));
      const blocks = found === null ? [] : readBlocks(lines.slice(1));
      const sound = this.#textOf(blocks);
      if (sound !== text) {
        this.#logger.warn('the key block file was damaged; missing key blocks are proven again', {
          file: this.#options.path,
          kept: blocks.length,
        });
        await this.#replace(sound);
      }
      return blocks;
    });
  }

  async append(blocks: readonly BlockId[]): Promise<void> {
    await this.#guard(async () => {
      const file = await open(this.#options.path, 'a');
      await writeAndClose(file, blocks.map(blockLine).join(''));
    });
  }

  async replace(blocks: readonly BlockId[]): Promise<void> {
    await this.#guard(() => this.#replace(this.#textOf(blocks)));
  }

  #textOf(blocks: readonly BlockId[]): string {
    return line(`${FORMAT} ${networkName(this.#options.zero_state)}`) + blocks.map(blockLine).join('');
  }

  async #read(): Promise<string | null> {
    return readTextFile(this.#options.path, 'latin1');
  }

  async #replace(text: string): Promise<void> {
    const { path } = this.#options;
    makeFolder(dirname(path));
    await writeFileAtomic(path, text, { mode: 0o644 });
  }

  #checkNetwork(found: string): void {
    const expected = networkName(this.#options.zero_state);
    if (found !== expected) throw chainErrors['key-block-network']({ file: this.#options.path, expected, found });
  }

  async #guard<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof TernError || !(error instanceof Error) || !('code' in error)) throw error;
      throw chainErrors['key-block-file']({ file: this.#options.path, problem: error.message }, error);
    }
  }
}

async function writeAndClose(file: FileHandle, text: string): Promise<void> {
  try {
    await file.writeFile(text, 'latin1');
    await file.sync();
  } finally {
    await file.close();
  }
}

function networkName({ root_hash, file_hash }: BlockId): string {
  return `${toHex(root_hash)}:${toHex(file_hash)}`;
}

function blockLine({ seqno, root_hash, file_hash }: BlockId): string {
  return line(`${seqno} ${toHex(root_hash)} ${toHex(file_hash)}`);
}

function line(text: string): string {
  return `${text} ${checksum(text)}\n`;
}

function checksum(text: string): string {
  return crc32c(Buffer.from(text, 'latin1')).toString(16).padStart(8, '0');
}

/** The content before the checksum; `null` when the checksum is wrong. */
function payload(text: string): string | null {
  const end = text.length - 9;
  if (end < 1 || text[end] !== ' ') return null;
  const before = text.slice(0, end);
  return checksum(before) === text.slice(end + 1) ? before : null;
}

/** The blocks up to the first invalid line; the last line is complete only if it ends with a newline. */
function readBlocks(lines: readonly string[]): readonly BlockId[] {
  const blocks: BlockId[] = [];
  for (const text of lines.slice(0, -1)) {
    const block = readBlock(payload(text));
    if (block === null || block.seqno <= (blocks.at(-1)?.seqno ?? 0)) break;
    blocks.push(block);
  }
  return blocks;
}

function readBlock(text: string | null): BlockId | null {
  const match = /^([1-9]\d{0,9}) ([0-9a-f]{64}) ([0-9a-f]{64})$/.exec(text ?? '');
  if (match === null || Number(match[1]) > 0xffffffff) return null;
  const [root_hash, file_hash] = [fromHex(match[2]!)!, fromHex(match[3]!)!];
  return { ...MASTERCHAIN_SHARD, seqno: Number(match[1]), root_hash, file_hash };
}

/** Key blocks in memory, for this run only. */
export class KeyBlockMemory implements KeyBlockStore {
  #blocks: readonly BlockId[] = [];

  async load(): Promise<readonly BlockId[]> {
    return this.#blocks;
  }

  async append(blocks: readonly BlockId[]): Promise<void> {
    this.#blocks = [...this.#blocks, ...blocks];
  }

  async replace(blocks: readonly BlockId[]): Promise<void> {
    this.#blocks = [...blocks];
  }
}
