import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { configErrors } from '#app/config/errors.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** Makes the data folder if it is not there, and sees whether it can be used. @throws config/data-folder */
export async function prepareDataFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      throw configErrors['data-folder']({ folder, problem: 'a file stands in its place' }, error);
    }
    throw configErrors['data-folder']({ folder, problem: message }, error);
  }
}

/** The file of proven key blocks of a network: named for people and by its zerostate. */
export function keyBlockPath(folder: string, network: string, zerostate: BlockId): string {
  return join(folder, 'key-blocks', `${network}-${toHex(zerostate.root_hash.subarray(0, 8))}.txt`);
}
