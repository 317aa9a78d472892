import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { stateFilesErrors } from '#drivers/state-files/errors.js';
import { fileProblem, makeFolder } from '#kernel/files.js';

/** A hash and a depth. */
const SLOT_BYTES = 34;
/** Cells of a page: a power of two. */
const PAGE_CELLS = 8192;
const PAGE_BYTES = PAGE_CELLS * SLOT_BYTES;
const NONE = -1;

let files = 0;

/**
 * Hash and depth of each cell of a file, by the index of the cell: in memory up to a budget, beyond it in a scratch file. Cells are
 * filled from the last to the first, and most are read soon after.
 */
export class HashStore {
  /** Pages, one after the other; {@link place} points into it. */
  readonly bytes: Uint8Array;
  readonly #folder: string;
  readonly #pageOfFrame: Int32Array;
  readonly #frameOf: Int32Array;
  /** By frame: used since the hand passed; changed since it was last written. */
  readonly #used: Uint8Array;
  readonly #dirty: Uint8Array;
  /** By page: is in the scratch file. */
  readonly #written: Uint8Array;
  #hand = 0;
  #file: { readonly path: string; readonly descriptor: number } | null = null;

  /** @param budget bytes of memory @param folder of the scratch file, which is made when it is needed */
  constructor(cells: number, budget: number, folder: string) {
    const pages = Math.ceil(cells / PAGE_CELLS);
    const frames = Math.min(pages, Math.max(4, Math.floor(budget / PAGE_BYTES)));
    this.bytes = new Uint8Array(frames * PAGE_BYTES);
    this.#folder = folder;
    this.#pageOfFrame = new Int32Array(frames).fill(NONE);
    this.#frameOf = new Int32Array(pages).fill(NONE);
    this.#used = new Uint8Array(frames);
    this.#dirty = new Uint8Array(frames);
    this.#written = new Uint8Array(pages);
  }

  /** Bytes of the scratch file; 0: there is none. */
  scratchBytes = 0;

  /** Where the slot of a cell is in {@link bytes}, until the next call. @throws state-files/scratch */
  place(cell: number): number {
    const page = Math.floor(cell / PAGE_CELLS);
    let frame = this.#frameOf[page]!;
    if (frame === NONE) frame = this.#load(page);
    this.#used[frame] = 1;
    return frame * PAGE_BYTES + (cell - page * PAGE_CELLS) * SLOT_BYTES;
  }

  /** As {@link place}, to fill the slot. */
  placeToFill(cell: number): number {
    const at = this.place(cell);
    this.#dirty[Math.floor(at / PAGE_BYTES)] = 1;
    return at;
  }

  close(): void {
    if (this.#file === null) return;
    closeSync(this.#file.descriptor);
    rmSync(this.#file.path, { force: true });
    this.#file = null;
  }

  #load(page: number): number {
    const frame = this.#freeFrame();
    const at = frame * PAGE_BYTES;
    if (this.#written[page] !== 0) {
      this.#inFile(({ descriptor }) => {
        for (let done = 0; done < PAGE_BYTES; ) {
          const count = readSync(descriptor, this.bytes, at + done, PAGE_BYTES - done, page * PAGE_BYTES + done);
          if (count === 0) throw stateFilesErrors.scratch({ folder: this.#folder, problem: 'the file was cut' });
          done += count;
        }
      });
    }
    this.#pageOfFrame[frame] = page;
    this.#frameOf[page] = frame;
    return frame;
  }

  #freeFrame(): number {
    const frames = this.#used.length;
    for (;;) {
      const frame = this.#hand;
      this.#hand = (frame + 1) % frames;
      if (this.#used[frame] !== 0) {
        this.#used[frame] = 0;
        continue;
      }
      const page = this.#pageOfFrame[frame]!;
      if (page === NONE) return frame;
      if (this.#dirty[frame] !== 0) this.#write(page, frame);
      this.#frameOf[page] = NONE;
      return frame;
    }
  }

  #write(page: number, frame: number): void {
    this.#inFile(({ descriptor }) => {
      for (let done = 0; done < PAGE_BYTES; ) {
        done += writeSync(
          descriptor,
          this.bytes,
          frame * PAGE_BYTES + done,
          PAGE_BYTES - done,
          page * PAGE_BYTES + done,
        );
      }
    });
    this.scratchBytes = Math.max(this.scratchBytes, (page + 1) * PAGE_BYTES);
    this.#written[page] = 1;
    this.#dirty[frame] = 0;
  }

  #inFile(work: (file: { readonly path: string; readonly descriptor: number }) => void): void {
    try {
      if (this.#file === null) {
        makeFolder(this.#folder);
        const path = join(this.#folder, `hashes.${process.pid}.${++files}.scratch`);
        this.#file = { path, descriptor: openSync(path, 'wx+', 0o600) };
        // It lives as long as the descriptor: a killed process leaves nothing behind.
        rmSync(path, { force: true });
      }
      work(this.#file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      throw stateFilesErrors.scratch({ folder: this.#folder, problem: fileProblem(error) }, error);
    }
  }
}
