-- A webhook whose secret is replaced is signed with both for some time.
ALTER TABLE webhooks
  ADD COLUMN previous_secret text,
  -- Unix milliseconds.
  ADD COLUMN previous_until bigint NOT NULL DEFAULT 0;
