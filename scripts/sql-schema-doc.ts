// npm run docs:schema: writes schema.sql, the tables that the migrations make together, from a database they made.
import { writeFileSync } from 'node:fs';
import { sqlSchemaPage } from '#test/docs/sql-schema-page.js';
import { stopTestServer, testDatabase } from '#test/support/test-database.js';

const database = await testDatabase('schema');
try {
  writeFileSync('schema.sql', await sqlSchemaPage(await database.connect()));
} finally {
  await database.close();
  await stopTestServer();
}
