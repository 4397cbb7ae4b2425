import { page, type Page, pageRequest } from '../../api/paging.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { GRADE_SORT_FIELDS, GRADE_COLUMNS, type GradeQuery, type GradeRow, type GradeView, presentGrade } from './grades.schema.ts';

/** The grades of one launch by their timestamp, the newest first unless the query turns it round. One statement. */
export async function listGrades(sql: Sql, launchId: string, query: GradeQuery): Promise<Page<GradeView>> {
  const request = pageRequest(query, {
    fields: GRADE_SORT_FIELDS as readonly ('timestamp' | 'id')[],
    fallback: '-timestamp',
    tieBreaker: 'id',
  });
  const [way, beyond] = request.sort[0]?.descending ? ['DESC', '<'] : ['ASC', '>'];
  const params: unknown[] = [];
  const place = (value: unknown): string => `$${params.push(value)}`;
  const conditions = [`g.launch_id = ${place(launchId)}`];
  if (query.user_id !== undefined) conditions.push(`g.user_id = ${place(query.user_id)}`);
  if (query.status !== undefined) conditions.push(`g.status = ${place(query.status)}`);
  if (request.after) {
    const [timestamp, id] = request.after;
    conditions.push(`(g.timestamp, g.id) ${beyond} (${place(timestamp)}::timestamptz, ${place(id)}::bigint)`);
  }
  const rows = await sql.query<GradeRow>(
    `SELECT ${GRADE_COLUMNS} FROM lti_grades g WHERE ${conditions.join(' AND ')}
     ORDER BY g.timestamp ${way}, g.id ${way} LIMIT ${place(request.limit + 1)}`,
    params,
  );
  return page(request, rows, presentGrade, (row) => [row.timestamp.toISOString(), row.id]);
}
