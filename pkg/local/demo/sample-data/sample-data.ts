import { SECRET } from '../../../kube/kinds.ts';
import { ResourceApi } from '../../../kube/resource.ts';
import type { KubeClient } from '../../../kube/transport.ts';
import { addCourse } from './course.ts';
import { addFiles } from './files.ts';
import { addPeopleAndShares } from './sharing.ts';
import { TenantClient } from './tenant-client.ts';
import { addWork } from './work.ts';

/** The tenant of config/samples that gets them. */
export const SAMPLE_TENANT = { namespace: 'carrel-demo', name: 'general' };

/**
 * Adds files, people, shares, a course, jobs and schedules to the sample tenant, by its public API. A tenant whose administrator
 * has files already is somebody's own and stays as it is. Throws if a request is refused.
 */
export async function addSampleData(options: { client: KubeClient; routerPort: number; appUrl: string }): Promise<void> {
  const { client, routerPort } = options;
  const credentials = await new ResourceApi(client, SECRET).get({
    namespace: SAMPLE_TENANT.namespace,
    name: `${SAMPLE_TENANT.name}-admin`,
  });
  const valueOf = (key: string): string => Buffer.from(credentials.data?.[key] ?? '', 'base64').toString('utf8');
  const admin = await TenantClient.signIn(options, { email: valueOf('email'), password: valueOf('password') });
  const { user, quota } = await admin.get('/me');
  if (quota.used > 0) return;
  await admin.patch(`/users/${user.id}`, { display_name: 'Mira Falk' });
  const files = await addFiles(admin);
  await Promise.all([
    addPeopleAndShares(options, admin, files),
    addWork(admin, `http://receiver.localhost:${routerPort}`, files),
    addCourse(routerPort, admin),
  ]);
}
