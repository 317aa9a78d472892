import type { TokenTexts } from '#drivers/store/read/indexed-tokens.js';

/** JSON of a value, or null without one. */
export function maybe<T>(value: T | null, text: (value: T) => string): string | null {
  return value === null ? null : text(value);
}

/** Content of a token as JSON, by its sorted keys. */
export function contentText(content: TokenTexts): string {
  const keys = Object.keys(content).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(content[key])}`).join(',')}}`;
}
