import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import { type FilesPage, openFiles } from '../../support/clients/files-page.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { type Platform, secretValues } from '../../support/programs/platform.ts';

/** One person uploads in a minute what others upload in an hour. */
export const uploadTenant = (where: Platform): Promise<DemoTenant> =>
  demoTenant(where, {
    limits: { requestsPerUserPerMinute: 100_000, requestsPerTenantPerMinute: 100_000, requestsPerIpPerHour: 1_000_000 },
  });

/** The files of the tenant's first administrator. */
export async function filesPage(
  browser: TestBrowser,
  where: Platform,
  tenant: DemoTenant,
  options: { readonly noPicker?: boolean } = {},
): Promise<FilesPage> {
  const { email = '', password = '' } = await secretValues(where, tenant.namespace, `${tenant.name}-admin`);
  return openFiles(browser, tenant.apiUrl.replace(/\/api\/v1$/, '/'), { email, password }, options);
}

/** A new folder for files to drop, not below /dev: Chromium gives no handles of files there, and says so in a dialog. */
export const onDisk = (): Promise<string> => mkdtemp(join(tmpdir(), 'carrel-uploads-'));
