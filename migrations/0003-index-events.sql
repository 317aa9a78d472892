-- The event log of the index: what was committed, for streams, caches and other processes. Each event is announced by
-- NOTIFY on the channel `tern_index`, with its id as payload.

-- Events are numbered 1, 2, 3, … without gaps, in the order of their commits: the number is taken from `index_state.last_event`
-- in the transaction that writes the rows, so that two transactions never hold adjacent numbers in another order than they
-- commit, and a rolled back transaction leaves no gap. The newest 20,000 to 20,256 events are retained.
CREATE TABLE index_events (
  id bigint PRIMARY KEY,
  -- The masterchain seqnos concerned, both included; null: none in particular.
  mc_seqno_from integer,
  mc_seqno_to integer,
  -- 1 committed: one masterchain block that extends the index at its head; their seqnos only rise.
  -- 2 backfilled: masterchain blocks written out of that order.
  -- 3 derived: rows of contracts or of token metadata changed.
  -- 4 reset: the index was created, or the range was pruned.
  kind smallint NOT NULL,
  -- Five lists of 64-bit keys, each with its length as LEB128 before it, big-endian: account_key, hash_key of transactions in the
  -- order of their ids, keys of messages, trace roots, token_key. Null: anything in the range, or anything of this kind.
  touched bytea
);
-- Keys are parts of hashes: trying to compress them would be for nothing.
ALTER TABLE index_events ALTER COLUMN touched SET STORAGE EXTERNAL;

ALTER TABLE index_state ADD COLUMN last_event bigint NOT NULL DEFAULT 0;
