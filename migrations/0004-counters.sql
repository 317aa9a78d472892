CREATE TABLE counters (
  id bigint GENERATED ALWAYS AS IDENTITY,
  address bytea PRIMARY KEY,
  lapsed text,
  last_trans_lt bigint NOT NULL,
  mc_seqno integer NOT NULL,
  code_hash bytea,
  data_hash bytea,
  value numeric NOT NULL
);
