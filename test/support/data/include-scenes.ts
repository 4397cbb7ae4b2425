import { expect } from '@jest/globals';
import { INCLUDES } from '../../../pkg/content/lists/file-includes.schema.ts';
import type { ApiReply } from '../clients/api.ts';
import type { TestTenant } from '../programs/server.ts';
import { addMetadata } from './tags-and-metadata.ts';
import { untilServed } from '../wait.ts';

export type IncludedPerson = Awaited<ReturnType<TestTenant['user']>>;
export type IncludedFile = { id: string; [field: string]: unknown };

export const ALL_INCLUDES = INCLUDES.join(',');

/** Files with tags, metadata, grants and versions, and what `include` shows of them. */
export function includeScenes(tenant: TestTenant) {
  async function upload(by: IncludedPerson, name: string, fields: Record<string, string> = {}): Promise<IncludedFile> {
    const { status, body } = await untilServed(() => by.api.upload('/files', { name, file: Buffer.from(name), fields }));
    expect([name, status]).toEqual([name, 201]);
    return body;
  }
  const show = (by: IncludedPerson, file: IncludedFile, include = ALL_INCLUDES): Promise<ApiReply> =>
    by.api.get(`/files/${file.id}`, { query: { include } });
  const list = async (by: IncludedPerson, query: Record<string, string | number> = {}): Promise<IncludedFile[]> =>
    (await by.api.get('/files', { query: { include: ALL_INCLUDES, ...query } })).body.data;
  const grant = async (by: IncludedPerson, path: string, to: IncludedPerson, permission_level: string): Promise<{ id: string }> =>
    (await by.api.post(`${path}/permissions`, { permission_level, user_id: to.user.id })).body;

  async function tag(owner: IncludedPerson, name: string, ...files: IncludedFile[]): Promise<string> {
    const { body } = await owner.api.post('/tags', { name, color: '#3366cc' });
    for (const { id } of files) expect((await owner.api.put(`/files/${id}/tags/${body.id}`)).status).toBe(204);
    return body.id;
  }
  const describeBy = (file: IncludedFile, key: string, value: string | null, type = 'string') =>
    addMetadata(tenant, [file.id], [{ key, value, type }]);

  /** A file of Ada's that has all, and Bob, who may read it. */
  async function scene() {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const file = await upload(ada, 'a.txt');
    await ada.api.upload(`/files/${file.id}`, { method: 'PUT', name: 'a.txt', file: Buffer.from('second') });
    const tagId = await tag(ada, 'To read', file);
    await describeBy(file, 'course', 'History 1');
    const granted = await grant(ada, `/files/${file.id}`, bob, 'read');
    return { ada, bob, file, tagId, granted };
  }

  return { upload, show, list, grant, tag, describeBy, scene };
}
