-- The tables that the migrations make together; written by `npm run docs:schema`, compared by a test, run by nobody.
-- Partitions are made as the index grows and do not stand here. Comments are in the migrations.

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
  CONSTRAINT accounts_pkey PRIMARY KEY (address)
);
CREATE INDEX accounts_balance ON public.accounts USING btree (balance DESC, address);
CREATE INDEX accounts_code ON public.accounts USING btree (code_hash);
CREATE INDEX accounts_incomplete ON public.accounts USING btree (address) WHERE incomplete;

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

CREATE TABLE codes (
  code_hash bytea NOT NULL,
  boc bytea NOT NULL,
  CONSTRAINT codes_pkey PRIMARY KEY (code_hash)
);

CREATE TABLE index_state (
  one_row boolean NOT NULL DEFAULT true,
  zerostate_root_hash bytea NOT NULL,
  zerostate_file_hash bytea NOT NULL,
  partition_rounds integer NOT NULL,
  selection jsonb NOT NULL DEFAULT '{}'::jsonb,
  rounds int4multirange NOT NULL DEFAULT '{}'::int4multirange,
  pruned_below integer NOT NULL DEFAULT 0,
  CONSTRAINT index_state_one_row_check CHECK (one_row),
  CONSTRAINT index_state_partition_rounds_check CHECK ((partition_rounds > 0)),
  CONSTRAINT index_state_pkey PRIMARY KEY (one_row)
);

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

CREATE TABLE schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version)
);

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
