/** Kinds of tokens with metadata, named as in answers and in the column `kind` of `token_metadata`. */
export const METADATA_KINDS = ['jetton_masters', 'nft_collections', 'nft_items'] as const;
export type MetadataKind = (typeof METADATA_KINDS)[number];

/** Metadata that the operator of the service sets: column `override` of `token_metadata`. */
export interface MetadataOverride {
  /** Replaces the on-chain content and the off-chain metadata. */
  readonly content?: Readonly<Record<string, unknown>>;
  readonly is_nsfw?: boolean;
  readonly is_scam?: boolean;
}

/** Metadata of a token as API v3 returns it. */
export interface TokenMetadata {
  /** It has what such a token must have: a jetton a symbol, an item a name or domain, a collection a name, description or image. */
  readonly valid: boolean;
  readonly name?: string;
  readonly symbol?: string;
  readonly description?: string;
  readonly image?: string;
  readonly is_nsfw: boolean;
  readonly is_scam: boolean;
  /** All other values by key, such as `uri`, `decimals` (digits) and `attributes`. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** Strings with a member of their own and their maximal length (UTF-16 units). Longer texts are cut, longer links dropped. */
const TEXTS = {
  name: { most: 512, cut: true },
  symbol: { most: 128, cut: true },
  description: { most: 4_096, cut: true },
  image: { most: 8_192, cut: false },
} as const;
type TextKey = keyof typeof TEXTS;

/** Maximal size of one other value, and of all of them, as JSON text. */
const MAX_VALUE = 12_288;
const MAX_REST = 24_576;
const MAX_KEYS = 128;
const MAX_KEY = 128;

/** Deeper values are dropped. */
const MAX_DEPTH = 8;

/**
 * Merges the metadata of a token: `override` replaces everything, on-chain content takes precedence over off-chain metadata. Keys
 * are those of TEP-64. Values of a wrong type are dropped, all lengths are bounded.
 *
 * @param content on-chain content: column `content` of the table of the interface; for a domain also `domain`
 * @param document off-chain metadata: column `document` of `token_metadata`; null: none, or not fetched
 */
export function tokenMetadata(
  kind: MetadataKind,
  content: Readonly<Record<string, unknown>> | null,
  document: Readonly<Record<string, unknown>> | null,
  override: MetadataOverride | null,
): TokenMetadata {
  const first = sanitizeDocument(override?.content ?? content ?? {});
  const second = override?.content === undefined && document !== null ? sanitizeDocument(document) : {};
  const texts: Partial<Record<TextKey, string>> = {};
  const extra: [string, unknown][] = [];
  for (const [key, value] of Object.entries(first)) put(key, value);
  for (const [key, value] of Object.entries(second)) if (!Object.hasOwn(first, key)) put(key, value);
  return {
    valid: isEnough(kind, texts, first, second),
    ...texts,
    is_nsfw: override?.is_nsfw ?? false,
    is_scam: override?.is_scam ?? false,
    extra: recordOf(extra),
  };

  function put(key: string, value: unknown): void {
    if (isTextKey(key)) texts[key] = value as string;
    else extra.push([key, value]);
  }
}

/**
 * Sanitizes a metadata document: known strings must be strings, `decimals` become digits, other values stay; all within bounds, and
 * without what jsonb of PostgreSQL cannot store (U+0000, unpaired surrogates). Keys that start with `_` are reserved for this API and
 * dropped.
 */
export function sanitizeDocument(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const tidy: [string, unknown][] = [];
  let room = MAX_REST;
  for (const [given, value] of Object.entries(document)) {
    if (tidy.length === MAX_KEYS) break;
    if (given.length > MAX_KEY || given.startsWith('_')) continue;
    const key = sanitizeText(given);
    if (isTextKey(key)) {
      const text = sanitizeKnownText(key, value);
      if (text !== null) tidy.push([key, text]);
      continue;
    }
    const rest = key === 'decimals' ? sanitizeDecimals(value) : sanitizeValue(value, 0);
    const size = rest === undefined ? 0 : key.length + JSON.stringify(rest).length;
    if (rest === undefined || size > MAX_VALUE || size > room) continue;
    room -= size;
    tidy.push([key, rest]);
  }
  return recordOf(tidy);
}

function isEnough(
  kind: MetadataKind,
  { name, symbol, description, image }: Partial<Record<TextKey, string>>,
  ...documents: readonly Readonly<Record<string, unknown>>[]
): boolean {
  if (kind === 'jetton_masters') return symbol !== undefined;
  if (kind === 'nft_items') return name !== undefined || documents.some((each) => typeof each.domain === 'string');
  return name !== undefined || description !== undefined || image !== undefined;
}

function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(TEXTS, key);
}

function sanitizeKnownText(key: TextKey, value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const { most, cut } = TEXTS[key];
  if (value.length > most && !cut) return null;
  const text = sanitizeText(value.slice(0, most).replace(/[\uD800-\uDBFF]$/, ''));
  return text === '' ? null : text;
}

/** Number of decimals of an amount: 0 to 255. */
function sanitizeDecimals(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  return /^\d{1,3}$/.test(text) && Number(text) <= 255 ? String(Number(text)) : undefined;
}

function sanitizeValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.length > MAX_VALUE ? undefined : sanitizeText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value !== 'object' || depth === MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((each) => sanitizeValue(each, depth + 1) ?? null);
  const entries: [string, unknown][] = [];
  for (const [key, each] of Object.entries(value)) {
    const tidy = sanitizeValue(each, depth + 1);
    if (tidy !== undefined) entries.push([sanitizeText(key), tidy]);
  }
  return recordOf(entries);
}

function sanitizeText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD').replaceAll('\0', '');
}

/** All keys become own properties, `__proto__` too. */
function recordOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries);
}
