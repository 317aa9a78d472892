import { readInput } from '#app/cli/decode/read-input.js';
import { cliErrors } from '#app/cli/errors.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

/** A bag of cells for the control API, which reads it: a file, hex, base64, or `-` for standard input. @throws cli/input */
export function cellArgument(text: string): string {
  const input = readInput(text);
  if (input.source !== 'address') return toBase64(input.bytes);
  throw cliErrors.input({ argument: text.slice(0, 60), problem: 'is an address, and not a bag of cells' });
}

/** As {@link cellArgument}; the word `none` is none. */
export function cellOrNone(text: string): string | null {
  return text === 'none' ? null : cellArgument(text);
}
