import type { Sql } from '../../../pkg/store/postgres/pool.ts';

/**
 * All that the catalog says of a schema, as sorted lines: relations, columns, constraints, indexes, triggers, policies,
 * functions, rights. A column is identified by its position among those that are there: Postgres never gives the number of a
 * dropped one again.
 */
export async function catalogOf(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql.query<{ line: string }>(
    `WITH relations AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1)
     SELECT 'schema ' || nspname || ' ' || coalesce(nspacl::text, '') || ' ' || pg_get_userbyid(nspowner) AS line
     FROM pg_namespace WHERE nspname = $1
     UNION ALL SELECT 'relation ' || relname || ' ' || relkind::text || ' ' || coalesce(relacl::text, '') || ' ' || relrowsecurity
       || relforcerowsecurity || ' ' || pg_get_userbyid(relowner) || ' ' || coalesce(reloptions::text, '') FROM relations
     UNION ALL SELECT 'column ' || r.relname || ' ' || row_number() OVER (PARTITION BY r.oid ORDER BY a.attnum) || ' '
       || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' '
       || a.attidentity::text || a.attgenerated::text || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') || ' '
         || coalesce(a.attacl::text, '')
       FROM relations r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
       LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum
     UNION ALL SELECT 'constraint ' || r.relname || ' ' || c.conname || ' ' || pg_get_constraintdef(c.oid) FROM relations r
     JOIN pg_constraint c ON c.conrelid = r.oid
     UNION ALL SELECT 'index ' || pg_get_indexdef(i.indexrelid) FROM relations r JOIN pg_index i ON i.indrelid = r.oid
     UNION ALL SELECT 'trigger ' || pg_get_triggerdef(t.oid) FROM relations r
     JOIN pg_trigger t ON t.tgrelid = r.oid AND NOT t.tgisinternal
     UNION ALL SELECT 'policy ' || tablename || ' ' || policyname || ' ' || roles::text || ' ' || cmd || ' ' || coalesce(qual, '')
       || ' ' || coalesce(with_check, '') FROM pg_policies WHERE schemaname = $1
     UNION ALL SELECT 'function ' || p.oid::regprocedure || ' ' || coalesce(p.proacl::text, '') || ' '
       || md5(regexp_replace(replace(pg_get_functiondef(p.oid), $1, ''), '\\s', '', 'g')) FROM pg_proc p
       JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1`,
    [schema],
  );
  return rows
    .map(({ line }) => line)
    .filter((line) => !/pg_toast/.test(line))
    .sort();
}
