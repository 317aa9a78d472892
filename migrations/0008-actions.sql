-- Actions: what traces meant, as the classifier says (derivation `actions`).

-- How the details of a type are encoded in `actions.data`: the kinds of its fields by name, in their order. A layout never changes;
-- a type whose fields change gets another one, and rows that were written before stay readable.
CREATE TABLE action_layouts (
  id smallint PRIMARY KEY,
  type text NOT NULL,
  -- JSON, as text: equal layouts have equal texts
  fields text NOT NULL,
  UNIQUE (type, fields)
);

-- Traces that were classified. state: 0 not yet for certain (contracts of it are waited for), 1 ok, 2 failed, 3 broken
CREATE TABLE classified_traces (
  root bigint NOT NULL,
  -- of the classifier
  version smallint NOT NULL,
  state smallint NOT NULL,
  -- The message that the trace began with, and its normalised hash where that differs.
  external_hash bytea,
  external_hash_norm bytea,
  PRIMARY KEY (root)
) PARTITION BY RANGE (root);

-- Actions of a trace, by end_lt and action_id: `position` from 0.
CREATE TABLE actions (
  root bigint NOT NULL,
  position integer NOT NULL,
  -- action_layouts.id
  layout smallint NOT NULL,
  -- layouts of the types of the actions that it is a part of; null: none
  ancestors integer[],
  -- of the trace
  end_lt bigint NOT NULL,
  -- of action_id, as keys of hashes
  id_key bigint NOT NULL,
  -- ids, times, transactions, participants and details: see src/drivers/store/action-row.ts
  data bytea NOT NULL,
  PRIMARY KEY (root, position)
) PARTITION BY RANGE (root);
-- Hashes and addresses are most of it: trying to compress them would be for nothing.
ALTER TABLE actions ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX actions_id ON actions (id_key);
CREATE INDEX actions_lt ON actions (end_lt, root, position);
CREATE INDEX actions_layout ON actions (layout, end_lt, root, position);

-- Who takes part in an action.
CREATE TABLE action_accounts (
  root bigint NOT NULL,
  account_key bigint NOT NULL,
  end_lt bigint NOT NULL,
  position integer NOT NULL,
  layout smallint NOT NULL
) PARTITION BY RANGE (root);
CREATE INDEX action_accounts_lt ON action_accounts (account_key, end_lt, root, position, layout);
CREATE INDEX action_accounts_root ON action_accounts (root);

-- Traces to be classified beside the masterchain blocks that are not derived yet: completed by a block of another time, waiting for a
-- contract no more, or too long to be classified between others.
CREATE TABLE classification_queue (
  root bigint PRIMARY KEY,
  is_long boolean NOT NULL DEFAULT false,
  -- How often it was queued: one that is queued again while it is classified stays.
  stamp bigint NOT NULL DEFAULT 1,
  -- After failures: how many, and not again before this (unix seconds).
  attempts smallint NOT NULL DEFAULT 0,
  not_before bigint NOT NULL DEFAULT 0
);
CREATE INDEX classification_queue_order ON classification_queue (is_long, not_before, root);

-- Traces that were classified while a contract was not detected yet; it is classified again when that is done.
CREATE TABLE classification_waits (
  address bytea NOT NULL,
  root bigint NOT NULL,
  PRIMARY KEY (address, root)
);
CREATE INDEX classification_waits_root ON classification_waits (root);
