import type { Actor } from '../../api/actor.ts';
import { listPage, type Page } from '../../api/paging.ts';
import { integerKey, keyset, type Parameters, timeKey } from '../../store/postgres/keyset.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { type AllGradesQuery, GRADE_SORT_FIELDS, type GradeQuery, type GradeView } from './grades.schema.ts';
import { GRADE_COLUMNS, type GradeRow } from './grades.sql.ts';
import { presentGrade } from './grades.view.ts';

const GRADES = keyset<GradeRow, (typeof GRADE_SORT_FIELDS)[number] | 'id'>({
  keys: { timestamp: timeKey('g.timestamp', ({ timestamp }) => timestamp), id: integerKey('g.id', ({ id }) => id) },
  fields: GRADE_SORT_FIELDS,
  fallback: '-timestamp',
  tieBreaker: 'id',
});

/** Returns the grades of one launch. One statement. */
export const listGrades = (sql: Sql, launchId: string, query: GradeQuery): Promise<Page<GradeView>> =>
  listPage(sql, query, {
    keyset: GRADES,
    columns: GRADE_COLUMNS,
    from: 'lti_grades g',
    where: (params) => [`g.launch_id = ${params.add(launchId)}`, 'g.line_item_id IS NULL', ...filters(query, params)],
    present: presentGrade,
  });

/** Returns all grades for an administrator, otherwise those of the courses that the actor teaches. One statement. */
export const listAllGrades = (sql: Sql, actor: Actor, query: AllGradesQuery): Promise<Page<GradeView>> =>
  listPage(sql, query, {
    keyset: GRADES,
    columns: GRADE_COLUMNS,
    from: `lti_grades g JOIN lti_launches l ON l.launch_id = g.launch_id
      LEFT JOIN groups c ON c.platform_id = l.platform_id AND c.context_id = l.context_id`,
    where: (params) => [
      ...(actor.roles.includes('admin')
        ? []
        : [
            `c.id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = ${params.add(actor.userId)}
               AND m.role = 'instructor')`,
          ]),
      ...(query.launch_id === undefined ? [] : [`g.launch_id = ${params.add(query.launch_id)}`, 'g.line_item_id IS NULL']),
      ...(query.context_id === undefined ? [] : [`c.uuid = ${params.add(query.context_id)}`]),
      ...(query.line_item_id === undefined ? [] : [`g.line_item_id = ${params.add(query.line_item_id)}`]),
      ...filters(query, params),
    ],
    present: presentGrade,
  });

const filters = ({ user_id, status }: GradeQuery, params: Parameters): string[] => [
  ...(user_id === undefined ? [] : [`g.user_id = ${params.add(user_id)}`]),
  ...(status === undefined ? [] : [`g.status = ${params.add(status)}`]),
];
