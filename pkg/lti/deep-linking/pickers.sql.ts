import type { Executor, Tx } from '../../store/postgres/database.ts';
import { COURSE_FOLDER } from '../launch/course-folder-name.ts';

/** A launch that may be a deep linking request, with the registration that it came through. */
export interface PickerRow {
  /** The verified id_token, which holds the settings; null once it is too old. */
  readonly idToken: string | null;
  readonly roles: readonly string[];
  readonly deploymentId: string;
  readonly answeredAt: Date | null;
  readonly expiresAt: Date | null;
  readonly isActive: boolean;
  readonly issuer: string;
  readonly clientId: string;
  readonly mode: 'Query' | 'FormPost';
  readonly keyId: string | null;
  /** Sealed private key. */
  readonly privateKey: string | null;
  readonly managedRef: string | null;
  readonly course: { readonly id: string; readonly title: string } | null;
  readonly folder: { readonly uuid: string; readonly name: string; readonly ownerId: number } | null;
}

const PICKER = `
  SELECT l.launch_token AS "idToken", l.roles, l.deployment_id AS "deploymentId", l.answered_at AS "answeredAt",
    l.expires_at AS "expiresAt",
    t.is_active AND p.is_active AND t.platform_id = p.id AS "isActive", p.issuer, t.client_id AS "clientId",
    t.deep_linking_response_mode AS mode, t.key_id AS "keyId", t.private_key AS "privateKey", t.managed_ref AS "managedRef",
    CASE WHEN g.id IS NOT NULL THEN jsonb_build_object('id', g.uuid, 'title', g.name) END AS course,
    CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('uuid', d.uuid, 'name', d.name, 'ownerId', d.owner_id) END AS folder
  FROM lti_launches l JOIN lti_tools t ON t.id = l.tool_id JOIN lti_platforms p ON p.id = l.platform_id
  LEFT JOIN groups g ON g.platform_id = l.platform_id AND g.context_id = l.context_id
  LEFT JOIN LATERAL (${COURSE_FOLDER}) c ON true
  LEFT JOIN folders d ON d.id = c.id
  WHERE l.launch_id = $1`;

/** Takes one statement. */
export async function findPicker(sql: Executor, launchId: string): Promise<PickerRow | undefined> {
  const [row] = await sql.prepared<PickerRow>('lti-picker', PICKER, [launchId]);
  return row;
}

/** Returns true for the first answer: of several that race, only one succeeds. One statement. */
export async function markAnswered(tx: Tx, launchId: string, now: Date): Promise<boolean> {
  const rows = await tx.query(
    'UPDATE lti_launches SET answered_at = $2 WHERE launch_id = $1 AND answered_at IS NULL RETURNING id',
    [launchId, now],
  );
  return rows.length === 1;
}
