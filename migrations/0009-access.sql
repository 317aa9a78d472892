-- API keys, plans and their usage, for all processes that serve with this database. They are no part of the index: an index that is
-- created again leaves them.

CREATE TABLE access_keys (
  -- In the order of creation.
  number bigint GENERATED ALWAYS AS IDENTITY,
  id text PRIMARY KEY,
  -- As in keys.json: with the SHA-256 of each secret, not the secret.
  record jsonb NOT NULL
);

CREATE TABLE access_plans (
  name text PRIMARY KEY,
  -- As in plans.json.
  plan jsonb NOT NULL
);

CREATE TABLE access_usage (
  day date NOT NULL,
  -- The id of a key, or `anonymous`.
  key text NOT NULL,
  network text NOT NULL,
  allowed bigint NOT NULL,
  limited bigint NOT NULL,
  work bigint NOT NULL,
  last_used timestamptz,
  PRIMARY KEY (day, key, network)
);

-- One row. The version grows with each change of keys or plans, in its transaction.
CREATE TABLE access_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version bigint NOT NULL
);
INSERT INTO access_state (version) VALUES (0);
