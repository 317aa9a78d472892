-- Indexes that a first import of states has dropped and that are built when it ends, or when the next index leader begins.
CREATE TABLE deferred_indexes (
  name text PRIMARY KEY,
  -- `CREATE INDEX …`
  definition text NOT NULL
);
