import { signPlacedTarget } from '../../../pkg/lti/links/placed-target.policy.ts';
import { TargetKeys } from '../../../pkg/lti/links/target-keys.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { TestTenant } from '../programs/server.ts';
import type { Launch } from '../../../pkg/local/demo/lms/claims.ts';
import { type Launched, launched } from './launched.ts';
import type { Registration } from './registration.ts';

/** Somebody who has opened a link, and what the launch says of the link. */
export interface OpenedLink extends Launched {
  readonly link: {
    readonly id: string;
    readonly title: string | null;
    readonly file: { readonly id: string; readonly name: string } | null;
    readonly problem: { readonly code: string; readonly message: string } | null;
  };
}

/**
 * The custom parameters of a link that `maker` has placed for a file, in the course of their launch, as deep linking gives them
 * to the LMS.
 */
export async function placedFor(
  tenant: TestTenant,
  at: Registration,
  maker: Launched,
  fileId: string,
): Promise<Record<string, string>> {
  const { sealer } = tenant.rows;
  const key = await new TargetKeys({ sealer, random: systemRandom, tenantId: tenant.tenantId }).current(tenant.db);
  const [me, launch] = await Promise.all([maker.api.get('/users/me'), maker.api.get(`/lti/launches/${maker.launchId}`)]);
  const group = await tenant.db.tables.groups.find({ platformId: at.platformId, contextId: launch.body.context.id });
  const target = { file: fileId, maker: me.body.id, course: group?.uuid ?? null };
  return signPlacedTarget(key, target, { issuer: at.lms.issuer, clientId: at.clientId });
}

/** Opens a link, as a learner unless `opened` says otherwise. Throws when the launch is refused. */
export async function opensLink(tenant: TestTenant, at: Registration, opened: Partial<Launch>): Promise<OpenedLink> {
  const somebody = await launched(tenant, at, opened);
  const { status, body } = await somebody.api.get(`/lti/launches/${somebody.launchId}`);
  if (status !== 200) throw new Error(`the launch is not shown: ${status} ${JSON.stringify(body)}`);
  return { ...somebody, link: body.resource_link };
}
