-- What the index knows of its chain, so that answers say what they may lack.

-- The masterchain seqno as of which the newest state of every account is known: of the zerostates or of imported persistent states,
-- with all blocks since. The current state is complete while that is the newest indexed seqno. Null: not of every account.
ALTER TABLE index_state ADD COLUMN state_seqno integer;
-- Whether accounts come into the chain without a transaction, from the network that it is a fork of: its state is never complete.
ALTER TABLE index_state ADD COLUMN accounts_elsewhere boolean NOT NULL DEFAULT false;
UPDATE index_state s SET state_seqno = (SELECT upper(r) - 1 FROM unnest(s.rounds) r WHERE r @> 1) WHERE selection = '{}';

-- Accounts that were looked up and did not exist, and the masterchain seqno as of which. A row of `accounts` counts more.
CREATE TABLE absent_accounts (
  address bytea PRIMARY KEY,
  mc_seqno integer NOT NULL
);
CREATE INDEX absent_accounts_oldest ON absent_accounts (mc_seqno);
