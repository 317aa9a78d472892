import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sqlSchemaPage } from '#test/docs/sql-schema-page.js';
import { testDatabase } from '#test/support/test-database.js';

it('schema.sql shows what the migrations make; npm run docs:schema writes it', async () => {
  const database = await testDatabase('schema');
  const page = await sqlSchemaPage(await database.connect());
  await database.close();
  expect(page).toContain('CREATE TABLE schema_migrations');
  expect(readFileSync('schema.sql', 'utf8')).toBe(page);
});

it('reports each kind of thing that a migration may make', async () => {
  const database = await testDatabase('empty');
  const client = await database.connect();
  await client.query(`
    CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE SEQUENCE numbers;
    CREATE TABLE parts (id bigint PRIMARY KEY, x bytea, m mood DEFAULT 'sad', d bigint GENERATED ALWAYS AS (id * 2) STORED,
      CHECK (id > 0)) PARTITION BY RANGE (id);
    ALTER TABLE parts ALTER x SET STORAGE EXTERNAL;
    CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (10);
    CREATE TABLE plain (a integer NOT NULL) WITH (fillfactor = 70);
    CREATE INDEX plain_a ON plain (a) WHERE a > 5;
    CREATE VIEW seen AS SELECT a FROM plain;
    CREATE FUNCTION twice(a integer) RETURNS integer LANGUAGE sql AS 'SELECT 2 * a';
  `);
  const page = await sqlSchemaPage(client);
  await database.close();
  for (const text of [
    'CREATE TABLE parts (\n  id bigint NOT NULL,\n  x bytea STORAGE EXTERNAL,\n',
    `m mood DEFAULT 'sad'::mood`,
    'd bigint GENERATED ALWAYS AS ((id * 2)) STORED',
    'CONSTRAINT parts_id_check CHECK ((id > 0))',
    'CONSTRAINT parts_pkey PRIMARY KEY (id)\n) PARTITION BY RANGE (id);',
    'CREATE TABLE plain (\n  a integer NOT NULL\n) WITH (fillfactor=70);',
    'USING btree (a) WHERE (a > 5);',
    'CREATE VIEW seen AS',
    'CREATE SEQUENCE numbers AS bigint;',
    `CREATE TYPE mood AS ENUM ('sad', 'glad');`,
    'twice(a integer)',
  ]) {
    expect(page, text).toContain(text);
  }
  expect(page).not.toContain('parts_1');
});
