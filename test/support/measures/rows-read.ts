import type { Statement } from '../../../pkg/store/postgres/keyset.ts';
import type { TestTenant } from '../programs/server.ts';

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Runs a statement and returns how many rows of a table its plan read, those among them that a filter removed. */
export async function rowsRead(db: TestTenant['db'], table: string, { sql, params }: Statement): Promise<number> {
  const [plan] = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, params);
  const below = (node: PlanNode): number => {
    const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    return (node.Plans ?? []).reduce((sum, each) => sum + below(each), node['Relation Name'] === table ? rows : 0);
  };
  return below(plan?.['QUERY PLAN'][0].Plan as PlanNode);
}
