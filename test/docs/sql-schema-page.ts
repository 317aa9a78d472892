import type { ClientBase } from 'pg';

const HEAD = `-- The tables that the migrations make together; written by \`npm run docs:schema\`, compared by a test, run by nobody.
-- Partitions are made as the index grows and do not stand here. Comments are in the migrations.
`;

/** The definitions of all that the schema of the session holds, as SQL; partitions are left out. */
export async function sqlSchemaPage(client: ClientBase): Promise<string> {
  const texts = async (sql: string): Promise<string[]> =>
    (await client.query({ text: sql, rowMode: 'array' })).rows.map(([text]) => String(text));

  const tables = await client.query<{ oid: number; name: string; partition_key: string | null }>(
    `SELECT c.oid, quote_ident(c.relname) AS name, pg_get_partkeydef(c.oid) AS partition_key FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     ORDER BY c.relname`,
  );
  const sections: string[] = [];
  for (const { oid, name, partition_key } of tables.rows) {
    const columns = await texts(
      `SELECT quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
         || CASE a.attcompression WHEN '' THEN '' WHEN 'p' THEN ' COMPRESSION pglz' ELSE ' COMPRESSION lz4' END
         || CASE WHEN a.attstorage = t.typstorage THEN '' ELSE ' STORAGE ' ||
              CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END END
         || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
         || coalesce(CASE WHEN a.attgenerated = '' THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)
              ELSE ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED' END, '')
       FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
       WHERE a.attrelid = ${oid} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    );
    // From 18 on, NOT NULL is a constraint, too.
    const constraints = await texts(
      `SELECT 'CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
       WHERE conrelid = ${oid} AND contype <> 'n' ORDER BY contype, conname`,
    );
    const indexes = await texts(
      `SELECT pg_get_indexdef(i.indexrelid) || ';' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
       WHERE i.indrelid = ${oid} AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND conrelid = ${oid})
       ORDER BY c.relname`,
    );
    const triggers = await texts(
      `SELECT pg_get_triggerdef(oid) || ';' FROM pg_trigger WHERE tgrelid = ${oid} AND NOT tgisinternal ORDER BY tgname`,
    );
    const options = await texts(
      `SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = ${oid} AND reloptions IS NOT NULL`,
    );
    const partition = partition_key === null ? '' : ` PARTITION BY ${partition_key}`;
    const withOptions = options.length === 0 ? '' : ` WITH (${options[0]})`;
    sections.push(
      [
        `CREATE TABLE ${name} (\n  ${[...columns, ...constraints].join(',\n  ')}\n)${partition}${withOptions};`,
        ...indexes,
        ...triggers,
      ].join('\n'),
    );
  }
  const others = [
    `SELECT 'CREATE VIEW ' || quote_ident(viewname) || ' AS' || E'\\n' || definition FROM pg_views
     WHERE schemaname = current_schema() ORDER BY viewname`,
    `SELECT 'CREATE SEQUENCE ' || quote_ident(sequencename) || ' AS ' || data_type || ';' FROM pg_sequences
     WHERE schemaname = current_schema() ORDER BY sequencename`,
    `SELECT 'CREATE TYPE ' || quote_ident(t.typname) || ' AS ENUM (' ||
       string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) || ');'
     FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
     WHERE t.typnamespace = current_schema()::regnamespace GROUP BY t.typname ORDER BY t.typname`,
    `SELECT rtrim(pg_get_functiondef(p.oid), E'\\n') || ';' FROM pg_proc p
     WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind <> 'a'
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
     ORDER BY p.proname, p.oid`,
  ];
  for (const sql of others) sections.push(...(await texts(sql)));
  return [HEAD, ...sections.map((section) => `${section}\n`)].join('\n');
}
