import { contractDataErrors } from '#domain/contracts/errors.js';
import type { TokenContent } from '#domain/contracts/token-content.js';

/** Most characters of content that a row takes. */
const MAX_CONTENT = 32_768;

/**
 * Content of a token as JSON text, for a column of jsonb: the texts by their keys, a link as `uri`; `more` after them.
 * PostgreSQL keeps no zero characters: each becomes U+FFFD.
 *
 * @throws contract-data/too-large
 */
export function contentColumn(content: TokenContent, more: Readonly<Record<string, string>> = {}): string {
  const texts = content.type === 'offchain' ? { uri: content.data } : content.data;
  const entries = Object.entries({ ...texts, ...more }).map(([key, text]) => [key, text.replaceAll('\0', '\ufffd')]);
  const json = JSON.stringify(Object.fromEntries(entries));
  if (json.length <= MAX_CONTENT) return json;
  throw contractDataErrors['too-large']({ what: 'content', size: json.length, limit: MAX_CONTENT });
}
