import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { bytesOfKey, distinctAddresses, keyOfBytes } from '#drivers/store/read/contract-lists.js';
import type {
  AccountFilter,
  AddressAccount,
  AddressFacts,
  DescribedToken,
  IndexedAccount,
  Listed,
  Page,
  TokenFacts,
  WantedFacts,
} from '#drivers/store/read/index-types.js';
import { readPage } from '#drivers/store/read/pages.js';
import { all, emptySql, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import { accountStatusName } from '#drivers/store/stored-state.js';
import { ACCOUNTS, currenciesOf, type StoredRowOf, selectList } from '#drivers/store/tables.js';
import type { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';

type AccountFound = StoredRowOf<typeof ACCOUNTS> & { readonly code_boc: Uint8Array | null };

const WITH_BOC = 'a.data_boc, (SELECT c.boc FROM codes c WHERE c.code_hash = a.code_hash) AS code_boc';
const WITHOUT_BOC = 'NULL::bytea AS data_boc, NULL::bytea AS code_boc';

/** The newest states of accounts, each once, in the order of the addresses in the filter. */
export async function readAccounts(
  session: IndexSession,
  { address, code_hash }: AccountFilter,
  { boc }: { readonly boc: boolean },
): Promise<readonly IndexedAccount[]> {
  const addresses = distinctAddresses(address);
  if (addresses.length === 0) return [];
  const rows = await session.rows<AccountFound>(sql`
    SELECT ${raw(selectList(ACCOUNTS, 'a', 'data_boc', 'first_tx'))}, ${raw(boc ? WITH_BOC : WITHOUT_BOC)}
    FROM unnest(${opaqueToPlanner(addresses, 'bytea[]')}) WITH ORDINALITY AS k(address, n)
    CROSS JOIN LATERAL (SELECT * FROM accounts a WHERE a.address = k.address LIMIT 1) AS a
    ${code_hash === undefined ? emptySql : sql`WHERE a.code_hash = ANY(${code_hash}::bytea[])`}
    ORDER BY k.n`);
  return rows.map((row) => ({
    address: addressOfBytes(row.address),
    state_hash: row.state_hash,
    status: accountStatusName(row.status),
    balance: row.balance,
    extra_currencies: currenciesOf(row.extra_currencies),
    last_trans_lt: row.last_trans_lt,
    last_trans_hash: row.last_trans_hash,
    mc_seqno: row.mc_seqno,
    gen_utime: Number(row.gen_utime),
    code_hash: row.code_hash,
    data_hash: row.data_hash,
    frozen_hash: row.frozen_hash,
    incomplete: row.incomplete,
    data_boc: row.data_boc,
    code_boc: row.code_boc,
  }));
}

interface BalanceFound {
  readonly address: Uint8Array;
  readonly balance: bigint;
}

/** Accounts by balance, then address in the opposite direction. */
export async function readTopAccounts(
  session: IndexSession,
  page: Page,
): Promise<Listed<{ address: Address; balance: bigint }>> {
  const [down, up] = page.sort === 'desc' ? ['DESC', 'ASC'] : ['ASC', 'DESC'];
  const { rows, next } = await readPage<BalanceFound, BalanceFound>(
    {
      name: 'topAccounts',
      filter: {},
      keyParts: 2,
      keyBits: 400,
      read: ({ after, offset, count }) => {
        const [balance, address] = after ?? [];
        const compare = page.sort === 'desc' ? ['<', '>'] : ['>', '<'];
        const behind =
          after === null || balance == null || address == null
            ? []
            : [
                sql`a.balance ${raw(compare[0]!)}= ${balance}::numeric`,
                sql`(a.balance ${raw(compare[0]!)} ${balance}::numeric OR a.address ${raw(compare[1]!)} ${bytesOfKey(address)}::bytea)`,
              ];
        return session.rows<BalanceFound>(
          sql`SELECT a.address, a.balance FROM accounts a WHERE ${all(behind)}
            ORDER BY a.balance ${raw(down!)}, a.address ${raw(up!)} LIMIT ${raw(count)} OFFSET ${raw(offset)}`,
          offset === 0 ? {} : { planned: 'each time' },
        );
      },
      check: (found) => found,
      keyOf: ({ balance, address }) => [balance, keyOfBytes(address)],
    },
    page,
  );
  return { rows: rows.map(({ address, balance }) => ({ address: addressOfBytes(address), balance })), next };
}

/** A row of an account: its address, and whether it is known. */
interface AddressFound {
  readonly kind: 'account';
  readonly address: Uint8Array;
  readonly known: boolean;
  readonly code_hash: Uint8Array | null;
  readonly domain: string | null;
}

/** Facts about addresses, and of the masters of jetton wallets among them: in one statement, and one for codes that are not cached. */
export async function readAddressFacts(
  session: IndexSession,
  addresses: readonly Address[],
  wanted: WantedFacts,
): Promise<AddressFacts> {
  const asked = [...new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)])).values()];
  const accounts = new Map<string, AddressAccount>();
  const domains = new Map<string, string>();
  const tokens = new Map<string, { readonly address: Address; readonly tokens: TokenFacts[] }>();
  if (asked.length === 0) return { accounts, domains, tokens };
  const rows = await session.rows<AddressFound | TokenFound>(factsOf(opaqueToPlanner(asked, 'bytea[]'), wanted));
  const codes = rows.flatMap((row) => (row.kind === 'account' && row.code_hash !== null ? [row.code_hash] : []));
  const methodsOf = await readCodeMethods(session, codes);
  for (const row of rows) {
    const address = addressOfBytes(row.address);
    const key = address.toRaw();
    if (row.kind === 'account') {
      const { known, code_hash, domain } = row;
      const methods = code_hash === null ? null : (methodsOf.get(toHex(code_hash)) ?? null);
      if (known) accounts.set(key, { code_hash, methods });
      if (domain !== null) domains.set(key, domain);
    } else {
      const found = tokens.get(key);
      if (found === undefined) tokens.set(key, { address, tokens: [tokenOf(row)] });
      else found.tokens.push(tokenOf(row));
    }
  }
  return { accounts, domains, tokens };
}

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

/** Each table is looked up by its key, once per address. */
function factsOf(addresses: Sql, { domains, tokens }: WantedFacts): Sql {
  const domain = raw(domains ? 'd.domain' : 'NULL::text AS domain');
  const ofAccounts = sql`
    FROM asked k
    LEFT JOIN LATERAL (
      SELECT a.address, a.code_hash FROM accounts a WHERE a.address = k.address LIMIT 1
    ) AS a ON true
    ${domains ? OWN_DOMAIN : emptySql}`;
  const asked = sql`WITH asked AS MATERIALIZED (SELECT k.address FROM unnest(${addresses}) AS k(address))`;
  const known = raw("'account' AS kind, k.address, a.address IS NOT NULL AS known, a.code_hash");
  if (!tokens) return sql`${asked} SELECT ${known}, ${domain} ${ofAccounts}`;
  return sql`${asked}, ${TOKENS}
    SELECT ${known}, ${domain}, NULL::bytea AS owner, NULL::bytea AS jetton, NULL::numeric AS number, NULL::jsonb AS content,
      false AS has_metadata, NULL::text AS uri, NULL::jsonb AS document, NULL::jsonb AS override, false AS failed
    ${ofAccounts}
    UNION ALL
    SELECT t.kind, t.address, NULL, NULL, t.domain, t.owner, t.jetton, t.number, t.content,
      m.address IS NOT NULL, m.uri, m.document, m.override, m.failure IS NOT NULL
    FROM tokens t LEFT JOIN LATERAL (
      SELECT m.address, m.uri, m.document, m.override, m.failure FROM token_metadata m
      WHERE m.address = t.address AND m.kind = t.kind LIMIT 1
    ) AS m ON true`;
}

const OWN_DOMAIN = raw(`
    LEFT JOIN LATERAL (
      SELECT d.domain FROM dns_items d
      WHERE d.owner = k.address AND d.dns_wallet = d.owner AND d.lapsed IS NULL
        AND (d.domain LIKE '%.ton' OR d.domain LIKE '%.t.me')
      ORDER BY length(d.domain), d.domain LIMIT 1
    ) AS d ON true`);

const TOKENS = raw(`
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
  )`);

/** Bytes of a cached entry, and of each of its ids. */
const ENTRY_BYTES = 200;
const ID_BYTES = 8;

interface MethodsFound {
  readonly code_hash: Uint8Array;
  readonly methods: readonly number[] | null;
  readonly methods_read: boolean;
}

/**
 * Ids of the get methods of codes by the hash of the code in hexadecimal; null or absent: not known, or it has no table of methods.
 * Codes that are not cached are read in one statement.
 */
async function readCodeMethods(
  session: IndexSession,
  codes: readonly Uint8Array[],
): Promise<ReadonlyMap<string, readonly number[] | null>> {
  const cache = session.caches.methods;
  const found = new Map<string, readonly number[] | null>();
  const missing = new Map<string, Uint8Array>();
  for (const code of codes) {
    const key = toHex(code);
    if (found.has(key) || missing.has(key)) continue;
    const known = cache.get(key);
    if (known !== undefined) found.set(key, known.ids);
    else missing.set(key, code);
  }
  if (missing.size === 0) return found;
  const rows = await session.rows<MethodsFound>(sql`
    SELECT c.code_hash, c.methods, c.methods_read FROM codes c
    WHERE c.code_hash = ANY(${[...missing.values()]}::bytea[])`);
  for (const { code_hash, methods, methods_read } of rows) {
    const key = toHex(code_hash);
    found.set(key, methods);
    // Once they were looked for they do not change.
    if (methods_read) cache.set(key, { ids: methods }, ENTRY_BYTES + (methods?.length ?? 0) * ID_BYTES);
  }
  return found;
}
