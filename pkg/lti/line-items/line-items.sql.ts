import type { Executor } from '../../store/postgres/database.ts';

/** The LMS's address of a line item, and the registration that reaches it. */
export interface LineItemRow {
  readonly id: number;
  readonly uuid: string;
  readonly toolId: number;
  readonly url: string;
}

/** The course that line items belong to, and the registration that knows it. */
export interface InCourse {
  readonly groupId: number;
  readonly toolId: number;
}

const FIND = 'SELECT id, uuid, tool_id AS "toolId", url FROM lti_line_items WHERE uuid = $1 AND group_id = $2';
const KNOWN = 'SELECT uuid, url FROM lti_line_items WHERE group_id = $1 AND tool_id = $2 AND url = ANY ($3::text[])';
/** Sorted, so that two racing requests do not deadlock. */
const ADD = `INSERT INTO lti_line_items (uuid, group_id, tool_id, url)
  SELECT uuid, $1, $2, url FROM unnest($3::uuid[], $4::text[]) AS n (uuid, url) ORDER BY url
    ON CONFLICT (group_id, tool_id, url) DO NOTHING`;

/** Takes one statement. */
export async function findLineItem(sql: Executor, groupId: number, uuid: string): Promise<LineItemRow | undefined> {
  const [row] = await sql.prepared<LineItemRow>('lti-line-item', FIND, [uuid, groupId]);
  return row;
}

/** Returns our ids of line items by their addresses. One statement, or three if one of them is new. */
export async function lineItemIds(
  sql: Executor,
  { groupId, toolId }: InCourse,
  urls: readonly string[],
  newId: () => string,
): Promise<Map<string, string>> {
  if (urls.length === 0) return new Map();
  const read = async (): Promise<Map<string, string>> => {
    const rows = await sql.prepared<{ uuid: string; url: string }>('lti-line-items', KNOWN, [groupId, toolId, urls]);
    return new Map(rows.map(({ uuid, url }) => [url, uuid]));
  };
  const known = await read();
  const added = [...new Set(urls)].filter((url) => !known.has(url));
  if (added.length === 0) return known;
  await sql.query(ADD, [groupId, toolId, added.map(newId), added]);
  return read();
}
