import { decodeJwt } from 'jose';
import type { Api } from '../clients/api.ts';
import { Browser, follow } from './browser.ts';
import { INSTRUCTOR, type Launch } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import type { TestTenant } from '../programs/server.ts';
import type { Registration } from './registration.ts';

/** Somebody who has launched: a client of the API with the launch's session. */
export interface Launched {
  readonly api: Api;
  readonly launchId: string;
  /** `/lti/launches/{launch_id}/grades` */
  readonly grades: string;
}

/** Launches, by an instructor unless `opened` says otherwise. Throws when the launch is refused. */
export async function launched(
  tenant: TestTenant,
  at: Registration,
  opened: Partial<Launch> = {},
  fault: Fault = {},
): Promise<Launched> {
  const page = await follow(new Browser(), at.lms.open(at.clientId, { roles: [INSTRUCTOR], ...opened }, fault));
  if (page.status !== 303) throw new Error(`the launch was refused: ${page.status} ${page.code}`);
  const token = new URL(String(page.headers.location)).searchParams.get('token') ?? '';
  const launchId = String(decodeJwt(token).launch_id);
  return { api: tenant.anonymous.as(token), launchId, grades: `/lti/launches/${launchId}/grades` };
}
