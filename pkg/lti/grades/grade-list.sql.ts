import { listPage, type Page } from '../../api/paging.ts';
import { integerKey, keyset, timeKey } from '../../store/postgres/keyset.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { GRADE_SORT_FIELDS, type GradeQuery, type GradeView } from './grades.schema.ts';
import { GRADE_COLUMNS, type GradeRow } from './grades.sql.ts';
import { presentGrade } from './grades.view.ts';

const GRADES = keyset<GradeRow, (typeof GRADE_SORT_FIELDS)[number] | 'id'>({
  keys: { timestamp: timeKey('g.timestamp', ({ timestamp }) => timestamp), id: integerKey('g.id', ({ id }) => id) },
  fields: GRADE_SORT_FIELDS,
  fallback: '-timestamp',
  tieBreaker: 'id',
});

/** The grades of one launch. One statement. */
export const listGrades = (sql: Sql, launchId: string, query: GradeQuery): Promise<Page<GradeView>> =>
  listPage(sql, query, {
    keyset: GRADES,
    columns: GRADE_COLUMNS,
    from: 'lti_grades g',
    where: (params) => [
      `g.launch_id = ${params.add(launchId)}`,
      ...(query.user_id === undefined ? [] : [`g.user_id = ${params.add(query.user_id)}`]),
      ...(query.status === undefined ? [] : [`g.status = ${params.add(query.status)}`]),
    ],
    present: presentGrade,
  });
