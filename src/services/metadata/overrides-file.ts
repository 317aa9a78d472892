import { readFile, stat } from 'node:fs/promises';
import {
  METADATA_KINDS,
  type MetadataKind,
  type MetadataOverride,
  sanitizeDocument,
} from '#domain/contracts/token-metadata.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { isTernError } from '#kernel/tern-error.js';
import { metadataErrors } from '#services/metadata/errors.js';

/** The override of one token. */
export interface TokenOverride {
  readonly kind: MetadataKind;
  readonly address: Address;
  readonly override: MetadataOverride;
}

const MAX_BYTES = 16 * 2 ** 20;
const TEXTS = ['name', 'symbol', 'description', 'image'] as const;
const FLAGS = ['is_nsfw', 'is_scam'] as const;

/** Changes when the file does; null when there is no file. */
export async function fileStamp(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null);
  return found === null ? null : `${found.mtimeNs} ${found.size} ${found.ino}`;
}

/**
 * Reads a file of overrides: JSON by kind and address (in any form).
 *
 * ```json
 * { "jetton_masters": { "EQ…": { "content": { "symbol": "USDT" }, "is_nsfw": false, "is_scam": false } } }
 * ```
 *
 * Each part of an entry may be left out. Without `content` the token's own metadata stays.
 *
 * @throws metadata/overrides, which names the entry
 */
export async function loadOverrides(file: string): Promise<readonly TokenOverride[]> {
  const refuse = (problem: string, cause?: unknown) => metadataErrors.overrides({ file, problem }, cause);
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === 'ENOENT' ? 'there is no such file' : error.message, error);
  });
  if (bytes.length > MAX_BYTES) throw refuse(`it has ${bytes.length} bytes; the limit is ${MAX_BYTES}`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw refuse(`it is not JSON in UTF-8: ${(error as Error).message}`, error);
  }
  return overridesOf(value, refuse);
}

function overridesOf(file: unknown, refuse: (problem: string, cause?: unknown) => Error): readonly TokenOverride[] {
  const found = new Map<string, TokenOverride>();
  for (const [kind, entries] of fieldsOf(file, 'it')) {
    if (!isKind(kind)) throw refuse(`${quote(kind)} is not a kind; kinds are ${METADATA_KINDS.join(', ')}`);
    for (const [text, entry] of fieldsOf(entries, kind)) {
      const path = `${kind}[${quote(text)}]`;
      const address = addressOf(text, path);
      const key = `${kind} ${address.toRaw()}`;
      if (found.has(key)) throw refuse(`${path} is listed twice, in two forms of its address`);
      found.set(key, { kind, address, override: overrideOf(entry, path) });
    }
  }
  return [...found.values()];

  function fieldsOf(value: unknown, path: string): [string, unknown][] {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
    throw refuse(`${path} is not a JSON object`);
  }

  function addressOf(text: string, path: string): Address {
    try {
      return parseAddress(text).address;
    } catch (error) {
      if (!isTernError(error)) throw error;
      throw refuse(`${path} is not an address: ${error.message}`, error);
    }
  }

  function overrideOf(entry: unknown, path: string): MetadataOverride {
    const fields = fieldsOf(entry, path);
    for (const [name, value] of fields) {
      if (name === 'content') continue;
      if (!FLAGS.some((flag) => flag === name)) {
        throw refuse(`${path} has a field ${quote(name)}; fields are content, ${FLAGS.join(', ')}`);
      }
      if (typeof value !== 'boolean') throw refuse(`${path}.${name} is neither true nor false`);
    }
    if (fields.length === 0) throw refuse(`${path} is empty`);
    const { content, ...flags } = Object.fromEntries(fields);
    return content === undefined ? flags : { content: contentOf(content, `${path}.content`), ...flags };
  }

  function contentOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
    const content = Object.fromEntries(fieldsOf(value, path));
    for (const name of TEXTS) {
      if (Object.hasOwn(content, name) && typeof content[name] !== 'string')
        throw refuse(`${path}.${name} is not a text`);
    }
    const tidy = sanitizeDocument(content);
    for (const [name, given] of Object.entries(content)) {
      const kept = Object.hasOwn(tidy, name) ? tidy[name] : undefined;
      const isWhole = typeof given === 'string' ? kept === given : kept !== undefined;
      if (!isWhole && name !== 'decimals') throw refuse(`${path}.${name} is empty or too long, or its name is`);
      if (name === 'decimals' && kept === undefined) throw refuse(`${path}.decimals is not a number from 0 to 255`);
    }
    return tidy;
  }
}

function isKind(text: string): text is MetadataKind {
  return METADATA_KINDS.some((kind) => kind === text);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
