import { rawAddress } from '#api/v3/serialize/texts.js';
import { type MetadataOverride, tokenMetadata } from '#domain/contracts/token-metadata.js';
import type { AddressFacts, AddressTokens, TokenFacts } from '#drivers/store/read/address-facts.js';

/** `metadata` of an answer as JSON: of those addresses that are tokens, and of the masters of jetton wallets among them. */
export function metadataText(tokens: AddressFacts['tokens']): string {
  const entries: string[] = [];
  for (const entry of tokens.values()) entries.push(`"${rawAddress(entry.address)}":${entryText(entry)}`);
  return `{${entries.join(',')}}`;
}

/** The members of an object of `token_info`, as far as it has them. */
type TokenInfo = Readonly<Record<string, unknown>>;

function entryText({ tokens }: AddressTokens): string {
  const infos: TokenInfo[] = [];
  let is_indexed = true;
  for (const token of tokens) {
    const info = infoOf(token);
    if (info === null) is_indexed = false;
    infos.push(info ?? identityOf(token));
  }
  return JSON.stringify({ is_indexed, token_info: infos });
}

function identityOf(token: TokenFacts): TokenInfo {
  return token.kind === 'nft_items' ? { type: token.kind, nft_index: String(token.index) } : { type: token.kind };
}

/** Null: what its link leads to is still to be read. */
function infoOf(token: TokenFacts): TokenInfo | null {
  if (token.kind === 'jetton_wallets') {
    const { balance, owner, jetton } = token;
    const extra = { balance: String(balance), owner: rawAddress(owner), jetton: rawAddress(jetton) };
    return { valid: true, ...identityOf(token), extra };
  }
  const { kind, content, metadata } = token;
  const override = metadata?.override as MetadataOverride | null | undefined;
  const document = metadata?.document ?? null;
  const isOnChain = override?.content !== undefined || typeof content.uri !== 'string' || content.uri === '';
  if (!isOnChain && document === null && metadata?.failed !== true) return null;
  const { valid, extra, ...rest } = tokenMetadata(kind, content, document, override ?? null);
  return valid ? { valid, ...identityOf(token), ...rest, extra } : { valid, ...identityOf(token) };
}
