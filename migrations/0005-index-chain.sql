-- The incarnation of the local network whose chain is indexed: a reset, and a snapshot that is loaded, give it another one, and the
-- index begins anew. Null: other networks, whose chain does not change.
ALTER TABLE index_state ADD COLUMN chain text;
