import { asSuperuser } from './database.ts';

/** The client id that the LMS has given the tool. */
const CLIENT_ID = 'carrel-moodle';
/** Ids of deployments, and how often somebody launched from each. */
const WAITING = { 'faculty-of-biology': 14, 'language-centre': 3 } as const;

/**
 * Connects a second LMS to the sample tenant, whose deployments wait until an administrator admits them. The demo LMS has one
 * deployment, which its registration lists.
 */
export async function addWaitingDeployments(
  stateDirectory: string,
  of: { readonly namespace: string; readonly tenant: string },
  kubectl: (words: readonly string[], input?: string) => string,
): Promise<void> {
  const issuer = 'https://moodle.university.example';
  const registration = {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'LtiRegistration',
    metadata: { name: 'moodle', namespace: of.namespace },
    spec: {
      tenantRef: { name: of.tenant },
      platform: { preset: 'moodle', issuer, name: 'Moodle of the university' },
      clientId: CLIENT_ID,
      deploymentPolicy: 'Confirm',
    },
  };
  kubectl(['apply', '-f', '-'], JSON.stringify(registration));
  kubectl(['wait', '--for=condition=Ready', '--timeout=60s', 'ltiregistration/moodle']);
  await asSuperuser(stateDirectory, of.tenant, async (sql) => {
    for (const [id, launches] of Object.entries(WAITING))
      await sql.query(
        `INSERT INTO lti_deployment_requests (tool_id, platform_id, deployment_id, launches, first_seen_at, last_seen_at)
         SELECT id, platform_id, $2, $3, now() - interval '3 days', now() - interval '20 minutes'
         FROM lti_tools WHERE client_id = $1
         ON CONFLICT DO NOTHING`,
        [CLIENT_ID, id, launches],
      );
  });
}
