-- The index of a TON network.
--
-- Ids carry the place in the chain. A block is `mc_seqno << 24 | ordinal`: the masterchain block 0, then the shard blocks that
-- it newly commits by workchain, shard, seqno. A transaction is `mc_seqno << 24 | ordinal` in the order of lt, workchain and
-- account among all transactions of these blocks. Tables that grow are cut into partitions by these ids.
--
-- Keys are 64 bits of what is looked for, so that indexes are narrow; the whole value is in the BoC and is compared when read.
-- account_key: the first 8 bytes of SHA-256 of workchain (1 byte) and account id. Columns *_key of a hash: its first ten base64
-- characters, each as its rank in `+/0-9A-Za-z`, so that they sort as the texts do.

CREATE TABLE index_state (
  one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
  -- Which network: the zerostate of the masterchain.
  zerostate_root_hash bytea NOT NULL,
  zerostate_file_hash bytea NOT NULL,
  -- Masterchain blocks in one partition.
  partition_rounds integer NOT NULL CHECK (partition_rounds > 0),
  -- What is indexed, as the settings chose it when the index was begun.
  selection jsonb NOT NULL DEFAULT '{}',
  -- The masterchain seqnos that are indexed, with all they commit.
  rounds int4multirange NOT NULL DEFAULT '{}',
  -- Everything below was pruned.
  pruned_below integer NOT NULL DEFAULT 0
);

CREATE TABLE blocks (
  id bigint NOT NULL,
  workchain integer NOT NULL,
  shard bigint NOT NULL,
  seqno integer NOT NULL,
  root_hash bytea NOT NULL,
  file_hash bytea NOT NULL,
  global_id integer NOT NULL,
  version bigint NOT NULL,
  -- after_merge 1, before_split 2, after_split 4, want_merge 8, want_split 16, key_block 32, vert_seqno_incr 64
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
  -- Of the configuration that the block was made with.
  global_version integer NOT NULL,
  tx_count integer NOT NULL,
  -- workchain, shard, seqno of each block before it
  prev_blocks bigint[] NOT NULL,
  -- Of a masterchain block: workchain, shard, seqno of the newest block of each shard.
  shard_tops bigint[],
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX blocks_position ON blocks (workchain, shard, seqno);
CREATE INDEX blocks_seqno ON blocks (seqno);
CREATE INDEX blocks_gen_utime ON blocks (gen_utime, id);
CREATE INDEX blocks_start_lt ON blocks (start_lt, id);
CREATE INDEX blocks_root_hash ON blocks (root_hash);
CREATE INDEX blocks_file_hash ON blocks (file_hash);

CREATE TABLE transactions (
  id bigint NOT NULL,
  lt bigint NOT NULL,
  now bigint NOT NULL,
  account_key bigint NOT NULL,
  hash_key bigint NOT NULL,
  -- The transaction that its trace begins with.
  trace_root bigint NOT NULL,
  in_msg_key bigint,
  shard bigint NOT NULL,
  workchain integer NOT NULL,
  block_seqno integer NOT NULL,
  global_version smallint NOT NULL,
  -- The account after it, where the block tells: after the last one of an account in a block.
  state_after bytea,
  boc bytea NOT NULL,
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX transactions_lt ON transactions (lt);
CREATE INDEX transactions_now ON transactions (now, lt);
CREATE INDEX transactions_account_lt ON transactions (account_key, lt);
CREATE INDEX transactions_hash ON transactions (hash_key);
CREATE INDEX transactions_in_msg ON transactions (in_msg_key) WHERE in_msg_key IS NOT NULL;
CREATE INDEX transactions_trace ON transactions (trace_root);

-- One row for each message: of the transaction that sent it, or, where that is not indexed or there is none, of the
-- transaction that received it.
CREATE TABLE messages (
  tx_id bigint NOT NULL,
  msg_key bigint NOT NULL,
  body_key bigint NOT NULL,
  -- Of external messages whose normalised hash differs.
  norm_key bigint,
  source_key bigint,
  destination_key bigint,
  created_lt bigint,
  created_at bigint,
  opcode integer,
  -- 0: the message that the transaction received; n: its n-th out message
  position smallint NOT NULL
) PARTITION BY RANGE (tx_id);
CREATE INDEX messages_msg ON messages (msg_key);
CREATE INDEX messages_norm ON messages (norm_key) WHERE norm_key IS NOT NULL;
CREATE INDEX messages_body ON messages (body_key, created_lt);
CREATE INDEX messages_source ON messages (source_key, created_lt);
-- Messages from outside have no created_lt: all of a busy account stand together, in the order of their hashes.
CREATE INDEX messages_destination ON messages (destination_key, created_lt, msg_key);
CREATE INDEX messages_opcode ON messages (opcode, created_lt);
CREATE INDEX messages_created_lt ON messages (created_lt, msg_key);
CREATE INDEX messages_created_at ON messages (created_at, msg_key);

-- state: 0 complete, 1 pending (messages under way), 2 broken (its first message was sent by a transaction that is not indexed)
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
  PRIMARY KEY (root)
) PARTITION BY RANGE (root);
CREATE INDEX traces_end_lt ON traces (end_lt, root);
CREATE INDEX traces_end_utime ON traces (end_utime, root);
CREATE INDEX traces_mc_seqno_end ON traces (mc_seqno_end);

-- The accounts whose transactions are in a trace.
CREATE TABLE trace_accounts (
  root bigint NOT NULL,
  account_key bigint NOT NULL,
  end_lt bigint NOT NULL,
  end_utime bigint NOT NULL
) PARTITION BY RANGE (root);
CREATE INDEX trace_accounts_lt ON trace_accounts (account_key, end_lt, root);
CREATE INDEX trace_accounts_utime ON trace_accounts (account_key, end_utime, root);

-- Messages that were sent and not yet received, and the trace that they belong to.
CREATE TABLE open_messages (
  msg_hash bytea PRIMARY KEY,
  trace_root bigint NOT NULL
);
CREATE INDEX open_messages_trace ON open_messages (trace_root);

-- Messages that were received and whose sender is not indexed, and the transaction that received them.
CREATE TABLE orphan_messages (
  msg_hash bytea PRIMARY KEY,
  tx_id bigint NOT NULL
);
CREATE INDEX orphan_messages_tx ON orphan_messages (tx_id);

-- The newest state of each account that is indexed.
CREATE TABLE accounts (
  -- workchain (1 byte, signed) and account id
  address bytea PRIMARY KEY,
  state_hash bytea NOT NULL,
  -- 0 uninit, 1 active, 2 frozen, 3 nonexist
  status smallint NOT NULL,
  balance numeric NOT NULL,
  -- by currency id: { "100": "5" }
  extra_currencies jsonb,
  last_trans_lt bigint NOT NULL,
  last_trans_hash bytea NOT NULL,
  -- of the block that has this state first
  mc_seqno integer NOT NULL,
  gen_utime bigint NOT NULL,
  code_hash bytea,
  data_hash bytea,
  frozen_hash bytea,
  -- null where there is none, and while a part of it is not known
  data_boc bytea,
  -- Data or code is not known yet.
  incomplete boolean NOT NULL
);
CREATE INDEX accounts_balance ON accounts (balance DESC, address);
CREATE INDEX accounts_code ON accounts (code_hash);
CREATE INDEX accounts_incomplete ON accounts (address) WHERE incomplete;

-- Code of contracts, once.
CREATE TABLE codes (
  code_hash bytea PRIMARY KEY,
  boc bytea NOT NULL
);
