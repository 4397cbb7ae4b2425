import { beforeAll, expect, test } from '@jest/globals';
import { platform, type Platform } from '../support/programs/platform.ts';
import { type DemoTenant, signIn } from '../support/programs/demo-tenant.ts';
import { waitFor } from '../support/wait.ts';

let where: Platform;
let sample: DemoTenant;

beforeAll(async () => {
  where = await platform();
  sample = await signIn(where, 'carrel-demo', 'general');
}, 400_000);

interface Named {
  readonly name: string;
}
const namesAt = async (path: string): Promise<string[]> =>
  (await sample.admin.get(path)).body.data.map(({ name }: Named) => name).toSorted();

test('`carrel up` gives the sample tenant folders, people in groups, links, a course with its people, and jobs', async () => {
  const { body: root } = await sample.admin.get('/folders/root/children');
  const folders = root.data.filter(({ type }: { type: string }) => type === 'folder').map(({ name }: Named) => name);
  const groups = await namesAt('/groups?kind=manual');
  const { body: links } = await sample.admin.get('/shares');
  const { body: jobs } = await sample.admin.get('/jobs');
  const members = await waitFor('the list of members of the course', async () => {
    const { body } = await sample.admin.get('/lti/contexts');
    return body.data[0]?.members > 3 && (body.data[0].members as number);
  });

  expect({ folders, groups, links: links.data.length, members }).toEqual({
    folders: ['Field course', 'Plans and letters', 'Thesis'],
    groups: ['Biology, second year', 'Team of the field course'],
    links: 4,
    members: 12,
  });
  expect(jobs.data.map(({ kind }: { kind: string }) => kind)).toEqual(
    expect.arrayContaining(['batch', 'export', 'optimize', 'sync_roster']),
  );
});

test('every photo and every document of the sample data is what its name says', async () => {
  const { body } = await sample.admin.get('/files', { query: { limit: 100 } });
  const wrong = body.data.filter(({ name, mime_type: type }: { name: string; mime_type: string }) => {
    if (name.endsWith('.png')) return type !== 'image/png';
    return name.endsWith('.pdf') && type !== 'application/pdf';
  });

  expect(body.data.length).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});
