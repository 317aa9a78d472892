import { contractDataErrors } from '#domain/contracts/errors.js';

/** Bytes of a name in the form of the contracts, without the leading zero. */
export const MAX_DOMAIN_NAME = 126;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * A domain name as resolvers take it (TEP-81): a zero byte, then the labels from the last to the first, each with a zero
 * byte after it: `alice.ton` is `\0ton\0alice\0`. The empty name, or `.`, is `\0`: the resolver itself. Letters become
 * small; a dot at the end is nothing.
 *
 * @throws contract-data/domain-name for empty labels, bytes 0 to 32, and more than 126 bytes
 */
export function encodeDomainName(name: string): Uint8Array {
  const trimmed = name.endsWith('.') ? name.slice(0, -1) : name;
  if (trimmed === '') return new Uint8Array(1);
  const labels = trimmed.toLowerCase().split('.');
  if (labels.includes('')) throw refuse(name, 'a label is empty');
  const text = `${labels.reverse().join('\0')}\0`;
  if (/[\0-\x20]/.test(trimmed)) throw refuse(name, 'it has a space or control character');
  const bytes = encoder.encode(`\0${text}`);
  if (bytes.length > MAX_DOMAIN_NAME + 1) throw refuse(name, `it takes ${bytes.length - 1} bytes`);
  return bytes;
}

/** The name that bytes of that form stand for, with a dot at the end: `alice.ton.`; `.` when there is no label. */
export function decodeDomainName(bytes: Uint8Array): string {
  const labels = decoder
    .decode(bytes)
    .split('\0')
    .filter((label) => label !== '');
  return labels.length === 0 ? '.' : `${labels.reverse().join('.')}.`;
}

function refuse(name: string, problem: string): Error {
  const shown = name.length > 150 ? `${name.slice(0, 150)}…` : name;
  return contractDataErrors['domain-name']({ name: shown, problem });
}
