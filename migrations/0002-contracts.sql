-- Contracts of known kinds, and what happened to tokens.
--
-- The tables of kinds have one row for each contract that is or was of that kind and was verified. Their common columns:
-- id: in the order in which they were first found. lapsed: null as long as the contract is of the kind; else why it is not any
-- more: `destroyed`, `changed` (it answers otherwise now), `refused` (another contract does not agree any more). last_trans_lt,
-- mc_seqno, code_hash, data_hash: of the state that the row was read from.

-- Ids of the get methods that a code has, as its table of methods lists them; null: not looked for yet, or it has no such table.
ALTER TABLE codes ADD COLUMN methods integer[];
ALTER TABLE codes ADD COLUMN methods_read boolean NOT NULL DEFAULT false;
CREATE INDEX codes_methods_unread ON codes (code_hash) WHERE NOT methods_read;

-- Accounts whose newest state is to be looked at for what kind of contract it is.
CREATE TABLE contract_queue (
  address bytea PRIMARY KEY,
  -- of the state, or of the newest that was known when it was put here
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  -- After failures that may pass: how many, and not again before this (unix seconds).
  attempts smallint NOT NULL DEFAULT 0,
  not_before bigint NOT NULL DEFAULT 0
);
CREATE INDEX contract_queue_order ON contract_queue (not_before, mc_seqno);

-- What was found of an account when it was last looked at; only of those that are or were of a kind, or were refused.
CREATE TABLE contracts (
  address bytea PRIMARY KEY,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  kinds text[] NOT NULL,
  -- kind and reason of each refusal: { "jetton_wallet": "not-verified" }
  refused jsonb
);
CREATE INDEX contracts_refused ON contracts (address) WHERE refused IS NOT NULL;

-- Whom contracts name that have to agree with what these say of themselves, whether they did or not.
CREATE TABLE contract_references (
  address bytea NOT NULL,
  named bytea NOT NULL,
  PRIMARY KEY (address, named)
);
CREATE INDEX contract_references_named ON contract_references (named, address);

-- Contracts that changed so that those which name them are to be looked at again, and how far that is.
CREATE TABLE changed_contracts (
  address bytea PRIMARY KEY,
  position bytea NOT NULL DEFAULT ''
);

-- Work on what was indexed before: which rounds a derivation has been through, and how far it is in a list of addresses.
CREATE TABLE derivations (
  name text PRIMARY KEY,
  rounds int4multirange NOT NULL DEFAULT '{}',
  position bytea
);

CREATE TABLE jetton_masters (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  total_supply numeric NOT NULL,
  mintable boolean NOT NULL,
  admin bytea,
  -- keys of TEP-64 and their texts
  content jsonb NOT NULL,
  jetton_wallet_code_hash bytea NOT NULL
);
CREATE INDEX jetton_masters_id ON jetton_masters (id) WHERE lapsed IS NULL;
CREATE INDEX jetton_masters_admin ON jetton_masters (admin, id) WHERE lapsed IS NULL;

CREATE TABLE jetton_wallets (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  balance numeric NOT NULL,
  owner bytea NOT NULL,
  -- the master
  jetton bytea NOT NULL,
  -- of mintless jettons: whether the airdrop was claimed
  mintless_is_claimed boolean
);
-- Lists by id come with and without the empty wallets: those of each kind stand together. Some predicates hold for all rows: they
-- keep lists of an owner or jetton to the one index in whose order they are; the others would have to be sorted.
CREATE INDEX jetton_wallets_id ON jetton_wallets ((balance > 0), id) WHERE lapsed IS NULL;
CREATE INDEX jetton_wallets_balance ON jetton_wallets (balance, id) WHERE lapsed IS NULL;
CREATE INDEX jetton_wallets_owner ON jetton_wallets (owner, (balance > 0), id) WHERE lapsed IS NULL AND id > 0;
CREATE INDEX jetton_wallets_owner_balance ON jetton_wallets (owner, balance, id) WHERE lapsed IS NULL AND balance >= 0;
CREATE INDEX jetton_wallets_owner_jetton ON jetton_wallets (owner, jetton) WHERE lapsed IS NULL AND jetton > '';
CREATE INDEX jetton_wallets_jetton ON jetton_wallets (jetton, (balance > 0), id) WHERE lapsed IS NULL AND id > 0;
CREATE INDEX jetton_wallets_jetton_balance ON jetton_wallets (jetton, balance, id) WHERE lapsed IS NULL AND balance >= 0;

CREATE TABLE nft_collections (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  next_item_index numeric NOT NULL,
  owner bytea,
  content jsonb NOT NULL
);
CREATE INDEX nft_collections_id ON nft_collections (id) WHERE lapsed IS NULL;
CREATE INDEX nft_collections_owner ON nft_collections (owner, id) WHERE lapsed IS NULL;

CREATE TABLE nft_items (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  init boolean NOT NULL,
  index numeric NOT NULL,
  collection bytea,
  owner bytea,
  content jsonb NOT NULL,
  -- whom the sale or auction that owns it gives as owner; else the owner
  real_owner bytea
);
-- Items without a collection come last: no address is greater than those 33 bytes. Predicates as of jetton_wallets.
CREATE INDEX nft_items_id ON nft_items (id) WHERE lapsed IS NULL;
CREATE INDEX nft_items_lt ON nft_items (last_trans_lt, id) WHERE lapsed IS NULL;
CREATE INDEX nft_items_collection ON nft_items (collection, index, id) WHERE lapsed IS NULL AND id > 0;
CREATE INDEX nft_items_collection_lt ON nft_items (collection, last_trans_lt, id)
  WHERE lapsed IS NULL AND last_trans_lt >= 0;
CREATE INDEX nft_items_owner ON nft_items (
  owner, coalesce(collection, '\xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'), index, id
) WHERE lapsed IS NULL AND id > 0;
CREATE INDEX nft_items_owner_lt ON nft_items (owner, last_trans_lt, id) WHERE lapsed IS NULL AND last_trans_lt >= 0;
CREATE INDEX nft_items_real_owner ON nft_items (
  real_owner, coalesce(collection, '\xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'), index, id
) WHERE lapsed IS NULL AND id > 0;
CREATE INDEX nft_items_real_owner_lt ON nft_items (real_owner, last_trans_lt, id)
  WHERE lapsed IS NULL AND last_trans_lt >= 0;

CREATE TABLE dns_items (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  owner bytea,
  domain text NOT NULL,
  dns_next_resolver bytea,
  dns_wallet bytea,
  dns_site_adnl bytea,
  dns_storage_bag_id bytea
);
CREATE INDEX dns_items_domain ON dns_items (domain) WHERE lapsed IS NULL;
CREATE INDEX dns_items_wallet ON dns_items (dns_wallet, length(domain), domain COLLATE "C", address)
  WHERE lapsed IS NULL AND dns_wallet IS NOT NULL;
CREATE INDEX dns_items_own ON dns_items (owner, dns_wallet, length(domain), domain)
  WHERE lapsed IS NULL AND dns_wallet IS NOT NULL;

-- Sales at a fixed price.
CREATE TABLE nft_sales (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  is_complete boolean NOT NULL,
  created_at bigint NOT NULL,
  marketplace bytea,
  nft bytea,
  nft_owner bytea,
  full_price numeric NOT NULL,
  marketplace_fee_address bytea,
  marketplace_fee numeric NOT NULL,
  royalty_address bytea,
  royalty_amount numeric NOT NULL,
  sold_at bigint,
  sold_query_id numeric,
  -- prices by jetton wallet of the sale, raw address
  jetton_prices jsonb
);
CREATE INDEX nft_sales_nft ON nft_sales (nft) WHERE lapsed IS NULL;

CREATE TABLE nft_auctions (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  end_flag boolean NOT NULL,
  end_time bigint NOT NULL,
  marketplace bytea,
  nft bytea,
  nft_owner bytea,
  last_bid numeric NOT NULL,
  last_member bytea,
  -- nanotons until version 2, then percent
  min_step numeric NOT NULL,
  mp_fee_address bytea,
  mp_fee_factor bigint NOT NULL,
  mp_fee_base bigint NOT NULL,
  royalty_fee_address bytea,
  royalty_fee_factor bigint NOT NULL,
  royalty_fee_base bigint NOT NULL,
  max_bid numeric NOT NULL,
  min_bid numeric NOT NULL,
  created_at bigint NOT NULL,
  last_bid_at bigint NOT NULL,
  is_canceled boolean NOT NULL,
  -- of version 4 only
  activated boolean,
  step_time bigint,
  last_query_id numeric,
  jetton_wallet bytea,
  jetton_master bytea,
  is_broken_state boolean,
  public_key numeric
);
CREATE INDEX nft_auctions_nft ON nft_auctions (nft) WHERE lapsed IS NULL;

-- Items of telemint: numbers and user names.
CREATE TABLE telemint_items (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  token_name text NOT NULL,
  bidder_address bytea,
  bid numeric,
  bid_ts bigint,
  min_bid numeric,
  end_time bigint,
  beneficiary_address bytea,
  initial_min_bid numeric,
  max_bid numeric,
  min_bid_step numeric,
  min_extend_time bigint,
  duration bigint,
  royalty_numerator bigint,
  royalty_denominator bigint,
  royalty_destination bytea
);

CREATE TABLE multisigs (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  next_order_seqno numeric NOT NULL,
  threshold bigint NOT NULL,
  signers bytea[] NOT NULL,
  proposers bytea[] NOT NULL
);
CREATE INDEX multisigs_id ON multisigs (id) WHERE lapsed IS NULL;
CREATE INDEX multisigs_members ON multisigs USING gin ((signers || proposers)) WHERE lapsed IS NULL;

CREATE TABLE multisig_orders (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  multisig bytea NOT NULL,
  order_seqno numeric NOT NULL,
  threshold bigint,
  sent_for_execution boolean,
  approvals_mask numeric,
  approvals_num bigint,
  expiration_date bigint,
  order_boc bytea,
  signers bytea[]
);
CREATE INDEX multisig_orders_id ON multisig_orders (id) WHERE lapsed IS NULL;
CREATE INDEX multisig_orders_multisig ON multisig_orders (multisig, id) WHERE lapsed IS NULL;

CREATE TABLE vesting_contracts (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  start_time bigint NOT NULL,
  total_duration bigint NOT NULL,
  unlock_period bigint NOT NULL,
  cliff_duration bigint NOT NULL,
  total_amount numeric NOT NULL,
  sender bytea,
  owner bytea,
  whitelist bytea[] NOT NULL
);
CREATE INDEX vesting_contracts_id ON vesting_contracts (id) WHERE lapsed IS NULL;
CREATE INDEX vesting_contracts_sender ON vesting_contracts (sender, id) WHERE lapsed IS NULL;
CREATE INDEX vesting_contracts_owner ON vesting_contracts (owner, id) WHERE lapsed IS NULL;
CREATE INDEX vesting_contracts_whitelist ON vesting_contracts USING gin (whitelist) WHERE lapsed IS NULL;

CREATE TABLE nominator_pools (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  state bigint NOT NULL,
  nominators_count bigint NOT NULL,
  stake_amount_sent numeric NOT NULL,
  validator_amount numeric NOT NULL,
  validator bytea,
  validator_reward_share bigint NOT NULL,
  max_nominators_count bigint NOT NULL,
  min_validator_stake numeric NOT NULL,
  min_nominator_stake numeric NOT NULL,
  -- by raw address: { "0:…": { "amount": "1", "pending_deposit_amount": "0", "withdraw_requested": false } }
  nominators jsonb NOT NULL
);

-- Pools of exchanges (DeDust).
CREATE TABLE dex_pools (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  dex text NOT NULL,
  pool_type text NOT NULL,
  -- masters of jettons; null: TON
  asset_1 bytea,
  asset_2 bytea,
  reserve_1 numeric NOT NULL,
  reserve_2 numeric NOT NULL,
  -- what a swap costs: numerator / denominator of what is given
  fee_numerator numeric NOT NULL,
  fee_denominator numeric NOT NULL
);

-- Messages about tokens, by the transaction of the wallet or item that received them. kind: 1 jetton transfer, 2 jetton burn,
-- 3 jettons received (`internal_transfer`), a mint where the master sent them, 4 NFT transfer, 5 jetton transfer that was aborted,
-- which no list shows. All that have the opcode and the form are here; `confirmed` are those of wallets and items that were
-- verified at any time, of kind 3 the mints of these.
CREATE TABLE token_events (
  tx_id bigint NOT NULL,
  lt bigint NOT NULL,
  now bigint NOT NULL,
  -- the jetton wallet, or the item
  account_key bigint NOT NULL,
  -- Of confirmed ones: the master, or the collection; null: an item without one.
  token_key bigint,
  -- the sender of the message: owner of the jettons or the item; of kind 3, who made or sent them
  source_key bigint NOT NULL,
  -- of transfers: the new owner; null where the message names no account
  destination_key bigint,
  kind smallint NOT NULL,
  aborted boolean NOT NULL,
  confirmed boolean NOT NULL,
  -- A transaction receives one message.
  PRIMARY KEY (tx_id)
) PARTITION BY RANGE (tx_id);
CREATE INDEX token_events_account ON token_events (account_key, kind, lt);
CREATE INDEX token_events_lt ON token_events (kind, lt) WHERE confirmed AND kind IN (1, 2, 4);
CREATE INDEX token_events_now ON token_events (kind, now, lt) WHERE confirmed AND kind IN (1, 2, 4);
CREATE INDEX token_events_token ON token_events (token_key, kind, lt) WHERE confirmed AND kind IN (1, 2, 4);
CREATE INDEX token_events_source ON token_events (source_key, kind, lt) WHERE confirmed AND kind IN (1, 2, 4);
CREATE INDEX token_events_destination ON token_events (destination_key, kind, lt) WHERE confirmed AND kind IN (1, 2, 4);

-- What tokens say of themselves off the chain, and the attempts to learn it. kind: jetton_masters, nft_collections, nft_items.
CREATE TABLE token_metadata (
  address bytea NOT NULL,
  kind text NOT NULL,
  -- The link that the contract gives; null: all is on the chain.
  uri text,
  -- What was read there; null: nothing yet, or it failed.
  document jsonb,
  -- Set by whoever runs the service, instead of what the contract says.
  override jsonb,
  -- Null: never. Unix seconds.
  fetched_at bigint,
  -- When to fetch it, again or for the first time; null: not to be fetched.
  due_at bigint,
  attempts smallint NOT NULL DEFAULT 0,
  -- Why the last attempt failed: code and message.
  failure jsonb,
  PRIMARY KEY (address, kind)
);
CREATE INDEX token_metadata_due ON token_metadata (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX token_metadata_override ON token_metadata (kind, address) WHERE override IS NOT NULL;

-- Counts changes of what is told of contracts and metadata: answers made before are not good any more.
ALTER TABLE index_state ADD COLUMN contract_changes bigint NOT NULL DEFAULT 0;
