/** Keys of on-chain content that have a meaning (TEP-64). */
export const TOKEN_CONTENT_KEYS = [
  'uri',
  'name',
  'description',
  'image',
  'image_data',
  'symbol',
  'decimals',
  'amount_style',
  'render_type',
] as const;
export type TokenContentKey = (typeof TOKEN_CONTENT_KEYS)[number];

/**
 * What describes a token (TEP-64): all of it on the chain by key, or a link to it. With a `uri` among the keys it is
 * both ("semi-chain"). Text is UTF-8; `image_data` is base64.
 */
export type TokenContent =
  | { readonly type: 'onchain'; readonly data: Readonly<Partial<Record<TokenContentKey, string>>> }
  | { readonly type: 'offchain'; readonly data: string };
