import type { Page } from 'playwright-core';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import { Keyboard } from '../../support/clients/keyboard.ts';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { type Credentials, openAs } from './app.ts';

interface Where {
  readonly tenant: DemoTenant;
  readonly browser: TestBrowser;
  readonly administrator: Credentials;
}

/** A folder of the administrator with these files (a folder where the name ends in a slash), shown on a page. */
export async function folderShown(
  { tenant, browser, administrator }: Where,
  name: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<[Page, Keyboard]> {
  const { body: folder } = await tenant.admin.post('/folders', { name });
  for (const [file, content] of Object.entries(files)) {
    if (file.endsWith('/')) await tenant.admin.post('/folders', { name: file.slice(0, -1), parent_id: folder.id });
    else await tenant.admin.upload('/files', { name: file, file: Buffer.from(content), fields: { folder_id: folder.id } });
  }
  const page = await openAs(browser, tenant, administrator, `/files/${folder.id}`);
  await page.getByRole('row').nth(1).waitFor();
  return [page, new Keyboard(page)];
}
