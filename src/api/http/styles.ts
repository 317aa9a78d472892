import type { ApiStyle } from '#api/http/api-style.js';
import { envelopeStyle } from '#api/http/envelope-style.js';
import type { AnyHttpApi, StyleName } from '#api/http/http-api.js';
import { plainStyle } from '#api/http/plain-style.js';

const STYLES: Readonly<Record<StyleName, ApiStyle>> = { envelope: envelopeStyle, plain: plainStyle };

/** The manners of an API. */
export function styleOf({ style = 'envelope' }: Pick<AnyHttpApi, 'style'>): ApiStyle {
  return STYLES[style];
}
