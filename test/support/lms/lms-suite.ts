import { fixture } from '../suites/fixture.ts';
import type { TenantOptions, TestTenant } from '../programs/server.ts';
import { serverSuite } from '../suites/server-suite.ts';
import { registeredLms, type Registration } from './registration.ts';

export interface LmsSuite {
  readonly tenant: TestTenant;
  readonly at: Registration;
}

/** A tenant of the file's own, as `serverSuite` gives one, and an LMS at which it is registered. Registers its own hooks. */
export function lmsSuite(options: TenantOptions = {}): LmsSuite {
  const tenant = serverSuite(options);
  const at = fixture(
    () => registeredLms(tenant),
    ({ lms }) => lms.stop(),
  );
  return { tenant, at };
}
