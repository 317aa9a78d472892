-- The tables that the migrations make together; written by `npm run docs:schema`, compared by a test, run by nobody.
-- Partitions are made as the index grows and do not stand here. Comments are in the migrations.

CREATE TABLE absent_accounts (
  address bytea NOT NULL,
  mc_seqno integer NOT NULL,
  CONSTRAINT absent_accounts_pkey PRIMARY KEY (address)
);
CREATE INDEX absent_accounts_oldest ON public.absent_accounts USING btree (mc_seqno);

CREATE TABLE access_keys (
  number bigint NOT NULL,
  id text NOT NULL,
  record jsonb NOT NULL,
  CONSTRAINT access_keys_pkey PRIMARY KEY (id)
);

CREATE TABLE access_plans (
  name text NOT NULL,
  plan jsonb NOT NULL,
  CONSTRAINT access_plans_pkey PRIMARY KEY (name)
);

CREATE TABLE access_state (
  is_only boolean NOT NULL DEFAULT true,
  version bigint NOT NULL,
  CONSTRAINT access_state_is_only_check CHECK (is_only),
  CONSTRAINT access_state_pkey PRIMARY KEY (is_only)
);

CREATE TABLE access_usage (
  day date NOT NULL,
  key text NOT NULL,
  network text NOT NULL,
  allowed bigint NOT NULL,
  limited bigint NOT NULL,
  work bigint NOT NULL,
  last_used timestamp with time zone,
  CONSTRAINT access_usage_pkey PRIMARY KEY (day, key, network)
);

CREATE TABLE accounts (
  address bytea NOT NULL,
  state_hash bytea NOT NULL,
  status smallint NOT NULL,
  balance numeric NOT NULL,
  extra_currencies jsonb,
  last_trans_lt bigint NOT NULL,
  last_trans_hash bytea NOT NULL,
  mc_seqno integer NOT NULL,
  gen_utime bigint NOT NULL,
  code_hash bytea,
  data_hash bytea,
  frozen_hash bytea,
  data_boc bytea,
  incomplete boolean NOT NULL,
  first_tx bigint,
  CONSTRAINT accounts_pkey PRIMARY KEY (address)
);
CREATE INDEX accounts_balance ON public.accounts USING btree (balance DESC, address);
CREATE INDEX accounts_code ON public.accounts USING btree (code_hash);
CREATE INDEX accounts_incomplete ON public.accounts USING btree (address) WHERE incomplete;

CREATE TABLE action_accounts (
  root bigint NOT NULL,
  account_key bigint NOT NULL,
  end_lt bigint NOT NULL,
  "position" integer NOT NULL,
  layout smallint NOT NULL
) PARTITION BY RANGE (root);
CREATE INDEX action_accounts_lt ON ONLY public.action_accounts USING btree (account_key, end_lt, root, "position", layout);
CREATE INDEX action_accounts_root ON ONLY public.action_accounts USING btree (root);

CREATE TABLE action_layouts (
  id smallint NOT NULL,
  type text NOT NULL,
  fields text NOT NULL,
  CONSTRAINT action_layouts_pkey PRIMARY KEY (id),
  CONSTRAINT action_layouts_type_fields_key UNIQUE (type, fields)
);

CREATE TABLE actions (
  root bigint NOT NULL,
  "position" integer NOT NULL,
  layout smallint NOT NULL,
  ancestors integer[],
  end_lt bigint NOT NULL,
  id_key bigint NOT NULL,
  data bytea STORAGE EXTERNAL NOT NULL,
  CONSTRAINT actions_pkey PRIMARY KEY (root, "position")
) PARTITION BY RANGE (root);
CREATE INDEX actions_id ON ONLY public.actions USING btree (id_key);
CREATE INDEX actions_layout ON ONLY public.actions USING btree (layout, end_lt, root, "position");
CREATE INDEX actions_lt ON ONLY public.actions USING btree (end_lt, root, "position");

CREATE TABLE blocks (
  id bigint NOT NULL,
  workchain integer NOT NULL,
  shard bigint NOT NULL,
  seqno integer NOT NULL,
  root_hash bytea NOT NULL,
  file_hash bytea NOT NULL,
  global_id integer NOT NULL,
  version bigint NOT NULL,
  bits smallint NOT NULL,
  flags smallint NOT NULL,
  gen_utime bigint NOT NULL,
  start_lt bigint NOT NULL,
  end_lt bigint NOT NULL,
  validator_list_hash_short bigint NOT NULL,
  gen_catchain_seqno bigint NOT NULL,
  min_ref_mc_seqno bigint NOT NULL,
  prev_key_block_seqno bigint NOT NULL,
  vert_seqno bigint NOT NULL,
  master_ref_seqno bigint,
  rand_seed bytea NOT NULL,
  created_by bytea NOT NULL,
  global_version integer NOT NULL,
  tx_count integer NOT NULL,
  prev_blocks bigint[] NOT NULL,
  shard_tops bigint[],
  CONSTRAINT blocks_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX blocks_file_hash ON ONLY public.blocks USING btree (file_hash);
CREATE INDEX blocks_gen_utime ON ONLY public.blocks USING btree (gen_utime, id);
CREATE INDEX blocks_position ON ONLY public.blocks USING btree (workchain, shard, seqno);
CREATE INDEX blocks_root_hash ON ONLY public.blocks USING btree (root_hash);
CREATE INDEX blocks_seqno ON ONLY public.blocks USING btree (seqno);
CREATE INDEX blocks_start_lt ON ONLY public.blocks USING btree (start_lt, id);

CREATE TABLE changed_contracts (
  address bytea NOT NULL,
  "position" bytea NOT NULL DEFAULT '\x'::bytea,
  CONSTRAINT changed_contracts_pkey PRIMARY KEY (address)
);

CREATE TABLE classification_queue (
  root bigint NOT NULL,
  is_long boolean NOT NULL DEFAULT false,
  stamp bigint NOT NULL DEFAULT 1,
  attempts smallint NOT NULL DEFAULT 0,
  not_before bigint NOT NULL DEFAULT 0,
  CONSTRAINT classification_queue_pkey PRIMARY KEY (root)
);
CREATE INDEX classification_queue_order ON public.classification_queue USING btree (is_long, not_before, root);

CREATE TABLE classification_waits (
  address bytea NOT NULL,
  root bigint NOT NULL,
  CONSTRAINT classification_waits_pkey PRIMARY KEY (address, root)
);
CREATE INDEX classification_waits_root ON public.classification_waits USING btree (root);

CREATE TABLE classified_traces (
  root bigint NOT NULL,
  version smallint NOT NULL,
  state smallint NOT NULL,
  external_hash bytea,
  external_hash_norm bytea,
  CONSTRAINT classified_traces_pkey PRIMARY KEY (root)
) PARTITION BY RANGE (root);

CREATE TABLE codes (
  code_hash bytea NOT NULL,
  boc bytea NOT NULL,
  methods integer[],
  methods_read boolean NOT NULL DEFAULT false,
  CONSTRAINT codes_pkey PRIMARY KEY (code_hash)
);
CREATE INDEX codes_methods_unread ON public.codes USING btree (code_hash) WHERE (NOT methods_read);

CREATE TABLE contract_queue (
  address bytea NOT NULL,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  attempts smallint NOT NULL DEFAULT 0,
  not_before bigint NOT NULL DEFAULT 0,
  CONSTRAINT contract_queue_pkey PRIMARY KEY (address)
);
CREATE INDEX contract_queue_order ON public.contract_queue USING btree (not_before, mc_seqno);

CREATE TABLE contract_references (
  address bytea NOT NULL,
  named bytea NOT NULL,
  CONSTRAINT contract_references_pkey PRIMARY KEY (address, named)
);
CREATE INDEX contract_references_named ON public.contract_references USING btree (named, address);

CREATE TABLE contracts (
  address bytea NOT NULL,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  kinds text[] NOT NULL,
  refused jsonb,
  CONSTRAINT contracts_pkey PRIMARY KEY (address)
);
CREATE INDEX contracts_refused ON public.contracts USING btree (address) WHERE (refused IS NOT NULL);

CREATE TABLE deferred_indexes (
  name text NOT NULL,
  definition text NOT NULL,
  CONSTRAINT deferred_indexes_pkey PRIMARY KEY (name)
);

CREATE TABLE derivations (
  name text NOT NULL,
  rounds int4multirange NOT NULL DEFAULT '{}'::int4multirange,
  "position" bytea,
  CONSTRAINT derivations_pkey PRIMARY KEY (name)
);

CREATE TABLE dex_pools (
  id bigint NOT NULL,
  address bytea NOT NULL,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  dex text NOT NULL,
  pool_type text NOT NULL,
  asset_1 bytea,
  asset_2 bytea,
  reserve_1 numeric NOT NULL,
  reserve_2 numeric NOT NULL,
  fee_numerator numeric NOT NULL,
  fee_denominator numeric NOT NULL,
  CONSTRAINT dex_pools_pkey PRIMARY KEY (address)
);

CREATE TABLE dns_items (
  id bigint NOT NULL,
  address bytea NOT NULL,
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
  dns_storage_bag_id bytea,
  CONSTRAINT dns_items_pkey PRIMARY KEY (address)
);
CREATE INDEX dns_items_domain ON public.dns_items USING btree (domain) WHERE (lapsed IS NULL);
CREATE INDEX dns_items_own ON public.dns_items USING btree (owner, dns_wallet, length(domain), domain) WHERE ((lapsed IS NULL) AND (dns_wallet IS NOT NULL));
CREATE INDEX dns_items_wallet ON public.dns_items USING btree (dns_wallet, length(domain), domain COLLATE "C", address) WHERE ((lapsed IS NULL) AND (dns_wallet IS NOT NULL));

CREATE TABLE index_events (
  id bigint NOT NULL,
  mc_seqno_from integer,
  mc_seqno_to integer,
  kind smallint NOT NULL,
  touched bytea STORAGE EXTERNAL,
  CONSTRAINT index_events_pkey PRIMARY KEY (id)
);

CREATE TABLE index_state (
  one_row boolean NOT NULL DEFAULT true,
  zerostate_root_hash bytea NOT NULL,
  zerostate_file_hash bytea NOT NULL,
  partition_rounds integer NOT NULL,
  selection jsonb NOT NULL DEFAULT '{}'::jsonb,
  rounds int4multirange NOT NULL DEFAULT '{}'::int4multirange,
  pruned_below integer NOT NULL DEFAULT 0,
  contract_changes bigint NOT NULL DEFAULT 0,
  last_event bigint NOT NULL DEFAULT 0,
  chain text,
  state_seqno integer,
  accounts_elsewhere boolean NOT NULL DEFAULT false,
  CONSTRAINT index_state_one_row_check CHECK (one_row),
  CONSTRAINT index_state_partition_rounds_check CHECK ((partition_rounds > 0)),
  CONSTRAINT index_state_pkey PRIMARY KEY (one_row)
);

CREATE TABLE jetton_masters (
  id bigint NOT NULL,
  address bytea NOT NULL,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  total_supply numeric NOT NULL,
  mintable boolean NOT NULL,
  admin bytea,
  content jsonb NOT NULL,
  jetton_wallet_code_hash bytea NOT NULL,
  CONSTRAINT jetton_masters_pkey PRIMARY KEY (address)
);
CREATE INDEX jetton_masters_admin ON public.jetton_masters USING btree (admin, id) WHERE (lapsed IS NULL);
CREATE INDEX jetton_masters_id ON public.jetton_masters USING btree (id) WHERE (lapsed IS NULL);

CREATE TABLE jetton_wallets (
  id bigint NOT NULL,
  address bytea NOT NULL,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  balance numeric NOT NULL,
  owner bytea NOT NULL,
  jetton bytea NOT NULL,
  mintless_is_claimed boolean,
  CONSTRAINT jetton_wallets_pkey PRIMARY KEY (address)
);
CREATE INDEX jetton_wallets_balance ON public.jetton_wallets USING btree (balance, id) WHERE (lapsed IS NULL);
CREATE INDEX jetton_wallets_id ON public.jetton_wallets USING btree (((balance > (0)::numeric)), id) WHERE (lapsed IS NULL);
CREATE INDEX jetton_wallets_jetton ON public.jetton_wallets USING btree (jetton, ((balance > (0)::numeric)), id) WHERE ((lapsed IS NULL) AND (id > 0));
CREATE INDEX jetton_wallets_jetton_balance ON public.jetton_wallets USING btree (jetton, balance, id) WHERE ((lapsed IS NULL) AND (balance >= (0)::numeric));
CREATE INDEX jetton_wallets_owner ON public.jetton_wallets USING btree (owner, ((balance > (0)::numeric)), id) WHERE ((lapsed IS NULL) AND (id > 0));
CREATE INDEX jetton_wallets_owner_balance ON public.jetton_wallets USING btree (owner, balance, id) WHERE ((lapsed IS NULL) AND (balance >= (0)::numeric));
CREATE INDEX jetton_wallets_owner_jetton ON public.jetton_wallets USING btree (owner, jetton) WHERE ((lapsed IS NULL) AND (jetton > '\x'::bytea));

CREATE TABLE messages (
  tx_id bigint NOT NULL,
  msg_key bigint NOT NULL,
  body_key bigint NOT NULL,
  norm_key bigint,
  source_key bigint,
  destination_key bigint,
  created_lt bigint,
  created_at bigint,
  opcode integer,
  "position" smallint NOT NULL
) PARTITION BY RANGE (tx_id);
CREATE INDEX messages_body ON ONLY public.messages USING btree (body_key, created_lt);
CREATE INDEX messages_created_at ON ONLY public.messages USING btree (created_at, msg_key);
CREATE INDEX messages_created_lt ON ONLY public.messages USING btree (created_lt, msg_key);
CREATE INDEX messages_destination ON ONLY public.messages USING btree (destination_key, created_lt, msg_key);
CREATE INDEX messages_msg ON ONLY public.messages USING btree (msg_key);
CREATE INDEX messages_norm ON ONLY public.messages USING btree (norm_key) WHERE (norm_key IS NOT NULL);
CREATE INDEX messages_opcode ON ONLY public.messages USING btree (opcode, created_lt);
CREATE INDEX messages_source ON ONLY public.messages USING btree (source_key, created_lt);

CREATE TABLE multisig_orders (
  id bigint NOT NULL,
  address bytea NOT NULL,
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
  signers bytea[],
  CONSTRAINT multisig_orders_pkey PRIMARY KEY (address)
);
CREATE INDEX multisig_orders_id ON public.multisig_orders USING btree (id) WHERE (lapsed IS NULL);
CREATE INDEX multisig_orders_multisig ON public.multisig_orders USING btree (multisig, id) WHERE (lapsed IS NULL);

CREATE TABLE multisigs (
  id bigint NOT NULL,
  address bytea NOT NULL,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  next_order_seqno numeric NOT NULL,
  threshold bigint NOT NULL,
  signers bytea[] NOT NULL,
  proposers bytea[] NOT NULL,
  CONSTRAINT multisigs_pkey PRIMARY KEY (address)
);
CREATE INDEX multisigs_id ON public.multisigs USING btree (id) WHERE (lapsed IS NULL);
CREATE INDEX multisigs_members ON public.multisigs USING gin (((signers || proposers))) WHERE (lapsed IS NULL);

CREATE TABLE nft_auctions (
  id bigint NOT NULL,
  address bytea NOT NULL,
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
  activated boolean,
  step_time bigint,
  last_query_id numeric,
  jetton_wallet bytea,
  jetton_master bytea,
  is_broken_state boolean,
  public_key numeric,
  CONSTRAINT nft_auctions_pkey PRIMARY KEY (address)
);
CREATE INDEX nft_auctions_nft ON public.nft_auctions USING btree (nft) WHERE (lapsed IS NULL);

CREATE TABLE nft_collections (
  id bigint NOT NULL,
  address bytea NOT NULL,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  next_item_index numeric NOT NULL,
  owner bytea,
  content jsonb NOT NULL,
  CONSTRAINT nft_collections_pkey PRIMARY KEY (address)
);
CREATE INDEX nft_collections_id ON public.nft_collections USING btree (id) WHERE (lapsed IS NULL);
CREATE INDEX nft_collections_owner ON public.nft_collections USING btree (owner, id) WHERE (lapsed IS NULL);

CREATE TABLE nft_items (
  id bigint NOT NULL,
  address bytea NOT NULL,
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
  real_owner bytea,
  CONSTRAINT nft_items_pkey PRIMARY KEY (address)
);
CREATE INDEX nft_items_collection ON public.nft_items USING btree (collection, index, id) WHERE ((lapsed IS NULL) AND (id > 0));
CREATE INDEX nft_items_collection_lt ON public.nft_items USING btree (collection, last_trans_lt, id) WHERE ((lapsed IS NULL) AND (last_trans_lt >= 0));
CREATE INDEX nft_items_id ON public.nft_items USING btree (id) WHERE (lapsed IS NULL);
CREATE INDEX nft_items_lt ON public.nft_items USING btree (last_trans_lt, id) WHERE (lapsed IS NULL);
CREATE INDEX nft_items_owner ON public.nft_items USING btree (owner, COALESCE(collection, '\xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'::bytea), index, id) WHERE ((lapsed IS NULL) AND (id > 0));
CREATE INDEX nft_items_owner_lt ON public.nft_items USING btree (owner, last_trans_lt, id) WHERE ((lapsed IS NULL) AND (last_trans_lt >= 0));
CREATE INDEX nft_items_real_owner ON public.nft_items USING btree (real_owner, COALESCE(collection, '\xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'::bytea), index, id) WHERE ((lapsed IS NULL) AND (id > 0));
CREATE INDEX nft_items_real_owner_lt ON public.nft_items USING btree (real_owner, last_trans_lt, id) WHERE ((lapsed IS NULL) AND (last_trans_lt >= 0));

CREATE TABLE nft_sales (
  id bigint NOT NULL,
  address bytea NOT NULL,
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
  jetton_prices jsonb,
  CONSTRAINT nft_sales_pkey PRIMARY KEY (address)
);
CREATE INDEX nft_sales_nft ON public.nft_sales USING btree (nft) WHERE (lapsed IS NULL);

CREATE TABLE nominator_pools (
  id bigint NOT NULL,
  address bytea NOT NULL,
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
  nominators jsonb NOT NULL,
  CONSTRAINT nominator_pools_pkey PRIMARY KEY (address)
);

CREATE TABLE open_messages (
  msg_hash bytea NOT NULL,
  trace_root bigint NOT NULL,
  CONSTRAINT open_messages_pkey PRIMARY KEY (msg_hash)
);
CREATE INDEX open_messages_trace ON public.open_messages USING btree (trace_root);

CREATE TABLE orphan_messages (
  msg_hash bytea NOT NULL,
  tx_id bigint NOT NULL,
  CONSTRAINT orphan_messages_pkey PRIMARY KEY (msg_hash)
);
CREATE INDEX orphan_messages_tx ON public.orphan_messages USING btree (tx_id);

CREATE TABLE past_contracts (
  address bytea NOT NULL,
  mc_seqno integer NOT NULL,
  outcome text,
  code_hash bytea,
  facts jsonb,
  attempts smallint NOT NULL DEFAULT 0,
  not_before bigint NOT NULL DEFAULT 0,
  CONSTRAINT past_contracts_pkey PRIMARY KEY (address, mc_seqno)
);
CREATE INDEX past_contracts_due ON public.past_contracts USING btree (not_before) WHERE (outcome IS NULL);

CREATE TABLE schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version)
);

CREATE TABLE state_imports (
  mc_seqno integer NOT NULL,
  workchain integer NOT NULL,
  shard bigint NOT NULL,
  root_hash bytea NOT NULL,
  "position" bytea NOT NULL DEFAULT '\x'::bytea,
  accounts bigint NOT NULL DEFAULT 0,
  finished boolean NOT NULL DEFAULT false,
  CONSTRAINT state_imports_pkey PRIMARY KEY (mc_seqno, workchain, shard)
);

CREATE TABLE telemint_items (
  id bigint NOT NULL,
  address bytea NOT NULL,
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
  royalty_destination bytea,
  CONSTRAINT telemint_items_pkey PRIMARY KEY (address)
);

CREATE TABLE token_events (
  tx_id bigint NOT NULL,
  lt bigint NOT NULL,
  now bigint NOT NULL,
  account_key bigint NOT NULL,
  token_key bigint,
  source_key bigint NOT NULL,
  destination_key bigint,
  kind smallint NOT NULL,
  aborted boolean NOT NULL,
  confirmed boolean NOT NULL,
  CONSTRAINT token_events_pkey PRIMARY KEY (tx_id)
) PARTITION BY RANGE (tx_id);
CREATE INDEX token_events_account ON ONLY public.token_events USING btree (account_key, kind, lt);
CREATE INDEX token_events_destination ON ONLY public.token_events USING btree (destination_key, kind, lt) WHERE (confirmed AND (kind = ANY (ARRAY[1, 2, 4])));
CREATE INDEX token_events_lt ON ONLY public.token_events USING btree (kind, lt) WHERE (confirmed AND (kind = ANY (ARRAY[1, 2, 4])));
CREATE INDEX token_events_now ON ONLY public.token_events USING btree (kind, now, lt) WHERE (confirmed AND (kind = ANY (ARRAY[1, 2, 4])));
CREATE INDEX token_events_source ON ONLY public.token_events USING btree (source_key, kind, lt) WHERE (confirmed AND (kind = ANY (ARRAY[1, 2, 4])));
CREATE INDEX token_events_token ON ONLY public.token_events USING btree (token_key, kind, lt) WHERE (confirmed AND (kind = ANY (ARRAY[1, 2, 4])));

CREATE TABLE token_metadata (
  address bytea NOT NULL,
  kind text NOT NULL,
  uri text,
  document jsonb,
  override jsonb,
  fetched_at bigint,
  due_at bigint,
  attempts smallint NOT NULL DEFAULT 0,
  failure jsonb,
  CONSTRAINT token_metadata_pkey PRIMARY KEY (address, kind)
);
CREATE INDEX token_metadata_due ON public.token_metadata USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX token_metadata_override ON public.token_metadata USING btree (kind, address) WHERE (override IS NOT NULL);

CREATE TABLE trace_accounts (
  root bigint NOT NULL,
  account_key bigint NOT NULL,
  end_lt bigint NOT NULL,
  end_utime bigint NOT NULL
) PARTITION BY RANGE (root);
CREATE INDEX trace_accounts_lt ON ONLY public.trace_accounts USING btree (account_key, end_lt, root);
CREATE INDEX trace_accounts_utime ON ONLY public.trace_accounts USING btree (account_key, end_utime, root);

CREATE TABLE traces (
  root bigint NOT NULL,
  start_lt bigint NOT NULL,
  start_utime bigint NOT NULL,
  end_lt bigint NOT NULL,
  end_utime bigint NOT NULL,
  mc_seqno_end integer NOT NULL,
  nodes integer NOT NULL,
  edges integer NOT NULL,
  pending_edges integer NOT NULL,
  state smallint NOT NULL,
  trace_id bytea NOT NULL,
  CONSTRAINT traces_pkey PRIMARY KEY (root)
) PARTITION BY RANGE (root);
CREATE INDEX traces_end_lt ON ONLY public.traces USING btree (end_lt, root);
CREATE INDEX traces_end_utime ON ONLY public.traces USING btree (end_utime, root);
CREATE INDEX traces_mc_seqno_end ON ONLY public.traces USING btree (mc_seqno_end);

CREATE TABLE transactions (
  id bigint NOT NULL,
  lt bigint NOT NULL,
  now bigint NOT NULL,
  account_key bigint NOT NULL,
  hash_key bigint NOT NULL,
  trace_root bigint NOT NULL,
  in_msg_key bigint,
  shard bigint NOT NULL,
  workchain integer NOT NULL,
  block_seqno integer NOT NULL,
  global_version smallint NOT NULL,
  state_after bytea,
  boc bytea NOT NULL,
  CONSTRAINT transactions_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX transactions_account_lt ON ONLY public.transactions USING btree (account_key, lt);
CREATE INDEX transactions_hash ON ONLY public.transactions USING btree (hash_key);
CREATE INDEX transactions_in_msg ON ONLY public.transactions USING btree (in_msg_key) WHERE (in_msg_key IS NOT NULL);
CREATE INDEX transactions_lt ON ONLY public.transactions USING btree (lt);
CREATE INDEX transactions_now ON ONLY public.transactions USING btree (now, lt);
CREATE INDEX transactions_trace ON ONLY public.transactions USING btree (trace_root);

CREATE TABLE vesting_contracts (
  id bigint NOT NULL,
  address bytea NOT NULL,
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
  whitelist bytea[] NOT NULL,
  CONSTRAINT vesting_contracts_pkey PRIMARY KEY (address)
);
CREATE INDEX vesting_contracts_id ON public.vesting_contracts USING btree (id) WHERE (lapsed IS NULL);
CREATE INDEX vesting_contracts_owner ON public.vesting_contracts USING btree (owner, id) WHERE (lapsed IS NULL);
CREATE INDEX vesting_contracts_sender ON public.vesting_contracts USING btree (sender, id) WHERE (lapsed IS NULL);
CREATE INDEX vesting_contracts_whitelist ON public.vesting_contracts USING gin (whitelist) WHERE (lapsed IS NULL);

CREATE TABLE webhook_deliveries (
  hook text NOT NULL,
  number bigint NOT NULL,
  body text NOT NULL,
  state smallint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  since bigint NOT NULL,
  not_before bigint NOT NULL DEFAULT 0,
  changed_at bigint NOT NULL,
  status integer,
  problem text,
  CONSTRAINT webhook_deliveries_hook_fkey FOREIGN KEY (hook) REFERENCES webhooks(id) ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (hook, number)
);
CREATE INDEX webhook_deliveries_done ON public.webhook_deliveries USING btree (changed_at) WHERE (state <> 0);
CREATE INDEX webhook_deliveries_waiting ON public.webhook_deliveries USING btree (hook, number) WHERE (state = 0);

CREATE TABLE webhooks (
  id text NOT NULL,
  owner text,
  url text NOT NULL,
  secret text NOT NULL,
  filter jsonb NOT NULL,
  cursor text NOT NULL,
  created_at bigint NOT NULL,
  previous_secret text,
  previous_until bigint NOT NULL DEFAULT 0,
  CONSTRAINT webhooks_pkey PRIMARY KEY (id)
);

CREATE SEQUENCE access_keys_number_seq AS bigint;
