-- Contracts are listed by the place of their first transaction instead of the order in which they were found, which differs between
-- two indexes of one chain.

-- The first transaction of the account that is indexed; null: none, as of accounts of a zerostate that have had no transaction yet.
ALTER TABLE accounts ADD COLUMN first_tx bigint;

-- In the tables of contract interfaces, `id` is `first_tx` of the account; where that is null, 2^62 | 62 bits of `account_key`: after
-- all transactions. Ids of indexes that exist are replaced by the derivation `first_transactions`.
ALTER TABLE jetton_masters ALTER COLUMN id DROP IDENTITY;
ALTER TABLE jetton_wallets ALTER COLUMN id DROP IDENTITY;
ALTER TABLE nft_collections ALTER COLUMN id DROP IDENTITY;
ALTER TABLE nft_items ALTER COLUMN id DROP IDENTITY;
ALTER TABLE dns_items ALTER COLUMN id DROP IDENTITY;
ALTER TABLE nft_sales ALTER COLUMN id DROP IDENTITY;
ALTER TABLE nft_auctions ALTER COLUMN id DROP IDENTITY;
ALTER TABLE telemint_items ALTER COLUMN id DROP IDENTITY;
ALTER TABLE multisigs ALTER COLUMN id DROP IDENTITY;
ALTER TABLE multisig_orders ALTER COLUMN id DROP IDENTITY;
ALTER TABLE vesting_contracts ALTER COLUMN id DROP IDENTITY;
ALTER TABLE nominator_pools ALTER COLUMN id DROP IDENTITY;
ALTER TABLE dex_pools ALTER COLUMN id DROP IDENTITY;

-- There is nothing to derive in a new index.
INSERT INTO derivations (name, position) SELECT 'first_transactions', NULL WHERE NOT EXISTS (SELECT FROM accounts);
