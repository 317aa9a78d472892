import { readFile } from 'node:fs/promises';
import { configErrors } from '#app/config/errors.js';
import type { Address } from '#formats/address/address.js';
import { parseAddress } from '#formats/address/parse-address.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/**
 * The addresses in a file, one on each line, in any form, each once. Empty lines, and what follows a `#`, do not count.
 *
 * @throws config/account-list
 */
export async function loadAccounts(file: string): Promise<readonly Address[]> {
  const refuse = (problem: string, cause?: unknown) => configErrors['account-list']({ file, problem }, cause);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === 'ENOENT' ? 'there is no such file' : error.message, error);
  });
  const found = new Map<string, Address>();
  for (const [number, line] of text.split('\n').entries()) {
    const word = line.replace(/#.*/, '').trim();
    if (word === '') continue;
    try {
      const { address } = parseAddress(word);
      found.set(address.toRaw(), address);
    } catch (error) {
      if (!isTernError(error)) throw error;
      throw refuse(`line ${number + 1}: ${error.message}`, error);
    }
  }
  if (found.size === 0) throw refuse('it has no address');
  return [...found.values()];
}
