import { addressOfBytes } from '#drivers/store/keys.js';
import type { AddressTokens, DescribedToken, TokenFacts } from '#drivers/store/read/address-facts.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { type Sql, sql, unseen } from '#drivers/store/read/sql.js';

type Json = Readonly<Record<string, unknown>>;

interface TokenFound {
  readonly kind: TokenFacts['kind'];
  readonly address: Uint8Array;
  readonly owner: Uint8Array | null;
  readonly jetton: Uint8Array | null;
  /** Balance of a wallet, index of an item. */
  readonly number: bigint | null;
  readonly content: Json | null;
  readonly domain: string | null;
  /** Whether there is a row of `token_metadata`. */
  readonly has_metadata: boolean;
  readonly uri: string | null;
  readonly document: Json | null;
  readonly override: Json | null;
  readonly failed: boolean;
}

/** What addresses and the masters of jetton wallets among them are, as tokens; by raw address. In one statement. */
export async function readTokenFacts(
  session: IndexSession,
  addresses: readonly Uint8Array[],
): Promise<ReadonlyMap<string, AddressTokens>> {
  const rows = await session.rows<TokenFound>(TOKENS(unseen(addresses, 'bytea[]')));
  const byAddress = new Map<string, { readonly address: AddressTokens['address']; readonly tokens: TokenFacts[] }>();
  for (const row of rows) {
    const address = addressOfBytes(row.address);
    const key = address.toRaw();
    const known = byAddress.get(key);
    if (known === undefined) byAddress.set(key, { address, tokens: [tokenOf(row)] });
    else known.tokens.push(tokenOf(row));
  }
  return byAddress;
}

function tokenOf(row: TokenFound): TokenFacts {
  const { kind, owner, jetton, number } = row;
  switch (kind) {
    case 'jetton_wallets':
      return { kind, balance: number!, owner: addressOfBytes(owner!), jetton: addressOfBytes(jetton!) };
    case 'nft_items':
      return { kind, index: number!, ...describedOf(row) };
    default:
      return { kind, ...describedOf(row) };
  }
}

function describedOf({ content, domain, has_metadata, uri, document, override, failed }: TokenFound): DescribedToken {
  return {
    content: domain === null ? content! : { ...content, domain },
    metadata: has_metadata ? { uri, document, override, failed } : null,
  };
}

/** Each table is looked up by its key, once for each address. */
const TOKENS = (addresses: Sql) => sql`
  WITH asked AS MATERIALIZED (SELECT k.address FROM unnest(${addresses}) AS k(address)),
  wallets AS MATERIALIZED (
    SELECT w.* FROM asked k CROSS JOIN LATERAL (
      SELECT w.address, w.owner, w.jetton, w.balance FROM jetton_wallets w
      WHERE w.address = k.address AND w.lapsed IS NULL LIMIT 1
    ) AS w
  ),
  tokens AS (
    SELECT 'jetton_masters' AS kind, t.address, NULL::bytea AS owner, NULL::bytea AS jetton, NULL::numeric AS number, t.content,
      NULL::text AS domain
    FROM (SELECT address FROM asked UNION SELECT jetton FROM wallets) AS k CROSS JOIN LATERAL (
      SELECT t.address, t.content FROM jetton_masters t WHERE t.address = k.address AND t.lapsed IS NULL LIMIT 1
    ) AS t
    UNION ALL
    SELECT 'jetton_wallets', w.address, w.owner, w.jetton, w.balance, NULL, NULL FROM wallets w
    UNION ALL
    SELECT 'nft_collections', t.address, NULL, NULL, NULL, t.content, NULL FROM asked k CROSS JOIN LATERAL (
      SELECT t.address, t.content FROM nft_collections t WHERE t.address = k.address AND t.lapsed IS NULL LIMIT 1
    ) AS t
    UNION ALL
    SELECT 'nft_items', t.address, NULL, NULL, t.index, t.content,
      (SELECT d.domain FROM dns_items d WHERE d.address = t.address AND d.lapsed IS NULL)
    FROM asked k CROSS JOIN LATERAL (
      SELECT t.address, t.index, t.content FROM nft_items t WHERE t.address = k.address AND t.lapsed IS NULL LIMIT 1
    ) AS t
  )
  SELECT t.*, m.address IS NOT NULL AS has_metadata, m.uri, m.document, m.override,
    m.failure IS NOT NULL AS failed
  FROM tokens t LEFT JOIN LATERAL (
    SELECT m.address, m.uri, m.document, m.override, m.failure FROM token_metadata m
    WHERE m.address = t.address AND m.kind = t.kind LIMIT 1
  ) AS m ON true`;
