-- Webhooks: who is sent which events, and what is still to be sent.

CREATE TABLE webhooks (
  id text PRIMARY KEY,
  -- Id of the API key that made it; null: the operator.
  owner text,
  url text NOT NULL,
  -- `whsec_` and base64, as of Standard Webhooks. It signs, so it cannot be stored as a hash.
  secret text NOT NULL,
  -- A subscription of the streaming API.
  filter jsonb NOT NULL,
  -- Cursor of the streaming API: events before it are in webhook_deliveries.
  cursor text NOT NULL,
  -- Unix milliseconds.
  created_at bigint NOT NULL
);

-- One row for each event of a hook, in the order in which they are sent: `number` from 1.
CREATE TABLE webhook_deliveries (
  hook text NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  number bigint NOT NULL,
  -- JSON, as it is sent
  body text NOT NULL,
  -- 0 waiting, 1 delivered, 2 dead: not delivered within a day
  state smallint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  -- Unix milliseconds: since when it is tried, not again before this, last change.
  since bigint NOT NULL,
  not_before bigint NOT NULL DEFAULT 0,
  changed_at bigint NOT NULL,
  -- Of the last attempt: HTTP status, or why there was none.
  status integer,
  problem text,
  PRIMARY KEY (hook, number)
);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (hook, number) WHERE state = 0;
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (changed_at) WHERE state <> 0;
