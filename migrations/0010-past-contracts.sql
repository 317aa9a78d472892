-- What contracts were after a masterchain block, where the tables of interfaces do not say so: the contract has changed since, or was
-- destroyed before its state was looked at. Read from the chain for the classification of traces, and kept, so that it can be repeated.
CREATE TABLE past_contracts (
  address bytea NOT NULL,
  mc_seqno integer NOT NULL,
  -- null: to be read; `read`; `unavailable`: no server has the state any more
  outcome text,
  code_hash bytea,
  -- by interface; null: the account did not exist, or had no interface
  facts jsonb,
  -- After failures that may pass: how many, and not again before this (unix seconds).
  attempts smallint NOT NULL DEFAULT 0,
  not_before bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (address, mc_seqno)
);
CREATE INDEX past_contracts_due ON past_contracts (not_before) WHERE outcome IS NULL;
