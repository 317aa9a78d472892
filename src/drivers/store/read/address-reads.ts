import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { AddressAccount, AddressFacts, WantedFacts } from '#drivers/store/read/address-facts.js';
import type { CodeMethods } from '#drivers/store/read/code-methods.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { nothing, raw, sql, unseen } from '#drivers/store/read/sql.js';
import { readTokenFacts } from '#drivers/store/read/token-facts.js';
import type { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes/bytes.js';

interface AddressFound {
  readonly address: Uint8Array;
  readonly known: boolean;
  readonly code_hash: Uint8Array | null;
  readonly domain: string | null;
}

/** What is known of addresses; the get methods of codes that come often are not read again. */
export async function readAddressFacts(
  session: IndexSession,
  methods: CodeMethods,
  addresses: readonly Address[],
  { domains, tokens }: WantedFacts,
): Promise<AddressFacts> {
  const wanted = [...new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)])).values()];
  const facts = { accounts: new Map<string, AddressAccount>(), domains: new Map<string, string>() };
  if (wanted.length === 0) return { ...facts, tokens: new Map() };
  const rows = await session.rows<AddressFound>(sql`
    SELECT k.address, a.address IS NOT NULL AS known, a.code_hash, ${raw(domains ? 'd.domain' : 'NULL::text AS domain')}
    FROM unnest(${unseen(wanted, 'bytea[]')}) AS k(address)
    LEFT JOIN LATERAL (
      SELECT a.address, a.code_hash FROM accounts a WHERE a.address = k.address LIMIT 1
    ) AS a ON true
    ${domains ? OWN_DOMAIN : nothing}`);
  const codes = rows.flatMap(({ code_hash }) => (code_hash === null ? [] : [code_hash]));
  const methodsOf = await methods.of(session, codes);
  for (const { address, known, code_hash, domain } of rows) {
    const key = addressOfBytes(address).toRaw();
    if (known) {
      facts.accounts.set(key, {
        code_hash,
        methods: code_hash === null ? null : (methodsOf.get(toHex(code_hash)) ?? null),
      });
    }
    if (domain !== null) facts.domains.set(key, domain);
  }
  return { ...facts, tokens: tokens ? await readTokenFacts(session, wanted) : new Map() };
}

const OWN_DOMAIN = raw(`
    LEFT JOIN LATERAL (
      SELECT d.domain FROM dns_items d
      WHERE d.owner = k.address AND d.dns_wallet = d.owner AND d.lapsed IS NULL
        AND (d.domain LIKE '%.ton' OR d.domain LIKE '%.t.me')
      ORDER BY length(d.domain), d.domain LIMIT 1
    ) AS d ON true`);
