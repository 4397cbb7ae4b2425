import type { Database } from '../../store/postgres/database.ts';

interface Known {
  readonly subject: string;
  readonly id: string;
  readonly name: string | null;
}

const PEOPLE = `
  SELECT i.subject, u.uuid AS id, u.display_name AS name FROM lti_identities i JOIN users u ON u.id = i.user_id
  WHERE i.platform_id = $1 AND i.subject = ANY ($2::text[])`;

/** Returns the Carrel users of a platform's people, by the platform's ids. One statement, or none for an empty list. */
export async function peopleBySubject(
  db: Database,
  platformId: number | null,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, { readonly id: string; readonly name: string | null }>> {
  const people = subjects.length === 0 ? [] : await db.prepared<Known>('lti-people', PEOPLE, [platformId, subjects]);
  return new Map(people.map(({ subject, id, name }) => [subject, { id, name }]));
}
