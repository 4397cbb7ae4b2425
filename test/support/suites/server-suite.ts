import { fixture } from './fixture.ts';
import { startTenant, type TenantOptions, type TestTenant } from '../programs/server.ts';
import { stores, type TestStores } from '../backends/stores.ts';

/** A tenant of the file's own with its server, its first administrator signed in. Registers its own hooks. */
export const serverSuite = (options: TenantOptions = {}): TestTenant =>
  fixture(
    () => startTenant(options),
    (tenant) => tenant.stop(),
  );

/**
 * Postgres, Valkey and S3 of the file's own: for one that harms them, or whose tenants no operator or worker of another file is
 * to see.
 */
export const ownStores = (options: { durable?: boolean } = {}): TestStores =>
  fixture(
    () => stores(options),
    (running) => running.stop(),
  );
