import type pg from 'pg';
import { CandidateInterfaces, contractInterfaces } from '#domain/contracts/interface-registry.js';
import { toHex } from '#kernel/bytes.js';
import type { Templates } from './templates.js';

/** Jettons and collections that share all wallets and items. */
const MASTERS = 40;
const COLLECTIONS = 20;

/** Hashes of the codes of the accounts that are of an interface. */
function codesOf(templates: Templates, name: string): Uint8Array[] {
  const candidates = new CandidateInterfaces(contractInterfaces([]));
  return templates.kinds.flatMap(({ like: { code_hash } }) =>
    code_hash !== null && candidates.of(toHex(code_hash), []).some((each) => each.name === name) ? [code_hash] : [],
  );
}

/**
 * Contracts as detection would have found them: the accounts with codes of jetton wallets and NFT items, each of a master or
 * collection with metadata, and of an owner who is a wallet. Owners do not fit the messages: such traces are `broken`, and have their
 * actions all the same.
 */
export async function addContracts(client: pg.Client, templates: Templates): Promise<void> {
  const wallets = codesOf(templates, 'jetton_wallet');
  const items = codesOf(templates, 'nft_item');
  await client.query(`CREATE TEMP TABLE owners AS
    SELECT row_number() OVER (ORDER BY state_hash) AS n, address FROM accounts
    WHERE code_hash = (SELECT code_hash FROM accounts WHERE code_hash IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)`);
  await client.query('CREATE INDEX ON owners (n)');
  const place = (n: number) =>
    `(SELECT address FROM owners WHERE n = 1 + (k.n * 7919 + ${n}) % (SELECT count(*) FROM owners))`;
  const state = 'address, last_trans_lt, mc_seqno, code_hash, data_hash';
  const detected = (kind: string) => `
    INSERT INTO contracts (address, last_trans_lt, mc_seqno, code_hash, kinds)
    SELECT address, last_trans_lt, mc_seqno, code_hash, ARRAY['${kind}'] FROM accounts WHERE code_hash = ANY($1::bytea[])`;
  await client.query(detected('jetton_wallet'), [wallets]);
  await client.query(detected('nft_item'), [items]);
  const number = 'row_number() OVER (ORDER BY state_hash)';
  await client.query(
    `INSERT INTO jetton_masters (id, ${state}, total_supply, mintable, content, jetton_wallet_code_hash)
     SELECT k.n, ${state}, 1000000000000, true, jsonb_build_object('name', 'Jetton ' || k.n, 'symbol', 'J' || k.n, 'decimals', '9',
       'image', 'https://example.org/jettons/' || k.n || '.png'), $1::bytea
     FROM (SELECT a.*, o.n FROM owners o JOIN accounts a USING (address) WHERE o.n <= ${MASTERS}) k`,
    [wallets[0]],
  );
  await client.query(
    `INSERT INTO nft_collections (id, ${state}, next_item_index, content)
     SELECT k.n, ${state}, 1000000, jsonb_build_object('name', 'Collection ' || k.n)
     FROM (SELECT a.*, o.n FROM owners o JOIN accounts a USING (address) WHERE o.n <= ${COLLECTIONS}) k`,
  );
  await client.query(
    `INSERT INTO jetton_wallets (id, ${state}, balance, owner, jetton)
     SELECT k.n, ${state}, k.n, ${place(0)}, (SELECT address FROM owners WHERE n = 1 + k.n % ${MASTERS})
     FROM (SELECT *, ${number} AS n FROM accounts WHERE code_hash = ANY($1::bytea[])) k`,
    [wallets],
  );
  await client.query(
    `INSERT INTO nft_items (id, ${state}, init, index, collection, owner, content)
     SELECT k.n, ${state}, true, k.n, (SELECT address FROM owners WHERE n = 1 + k.n % ${COLLECTIONS}), ${place(5)},
       jsonb_build_object('uri', 'https://example.org/items/' || k.n || '.json')
     FROM (SELECT *, ${number} AS n FROM accounts WHERE code_hash = ANY($1::bytea[])) k`,
    [items],
  );
  await client.query('DROP TABLE owners');
}
