-- The import of the persistent states after one masterchain block: a row for each file with accounts.
CREATE TABLE state_imports (
  -- The masterchain block.
  mc_seqno integer NOT NULL,
  workchain integer NOT NULL,
  -- Prefix of the accounts in the file, as a shard (signed): that of the state, or of a part of it.
  shard bigint NOT NULL,
  -- Hash of the root cell of the file.
  root_hash bytea NOT NULL,
  -- Id of the last account that was written; empty: none.
  position bytea NOT NULL DEFAULT '',
  -- Accounts written.
  accounts bigint NOT NULL DEFAULT 0,
  finished boolean NOT NULL DEFAULT false,
  PRIMARY KEY (mc_seqno, workchain, shard)
);
