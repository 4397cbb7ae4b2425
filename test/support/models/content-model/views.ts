import type { Api } from '../../clients/api.ts';
import type { ContentModel } from './content-model.ts';
import { type File, type Item, sizes } from './records.ts';
import type { Person } from './steps.ts';

/** Returns a person's view by the API and by the model, in the same words and order. */
export async function viewsOf(
  model: ContentModel,
  people: readonly Person[],
  actor: number,
): Promise<{ served: unknown; modelled: unknown }> {
  const { api } = people[actor] as Person;
  const [files, trashedFiles, folders, trashedFolders, usage] = await Promise.all([
    all(api, '/files'),
    all(api, '/files', { trashed: true }),
    all(api, '/folders'),
    all(api, '/folders', { trashed: true }),
    api.get('/users/me/usage'),
  ]);
  const served = {
    files: words(files.map(({ id, path, size, owner, folder, version }) => [id, path, size, owner.id, folder?.id, version])),
    trashedFiles: words(trashedFiles.map(({ id, path }) => [id, path])),
    folders: words(folders.map(({ id, path, owner, parent_id }) => [id, path, owner.id, parent_id ?? undefined])),
    trashedFolders: words(trashedFolders.map(({ id, path }) => [id, path])),
    usage: usage.body,
  };
  return { served, modelled: modelled(model, people, actor) };
}

function modelled(model: ContentModel, people: readonly Person[], actor: number): unknown {
  const seen = [...model.items.values()];
  const live = seen.filter((item) => item.trashed === null && model.can(actor, item, 'read'));
  const trashed = seen.filter((item) => item.trashed !== null && model.can(actor, item, 'write'));
  const owner = (item: Item): string | undefined => people[item.owner]?.id;
  const brief = (item: Item): unknown[] => [item.id, model.seenPath(actor, item)];
  const own = model.filesOf(actor);
  const older = ({ versions, current }: File): number => sizes(versions) - (versions.get(current)?.length ?? 0);
  const sum = (list: readonly number[]): number => list.reduce((total, each) => total + each, 0);
  const isFile = (item: Item): item is File => item.kind === 'file';
  return {
    files: words(
      live
        .filter(isFile)
        .map((file) => [
          ...brief(file),
          file.versions.get(file.current)?.length,
          owner(file),
          model.seenParent(actor, file)?.id,
          file.current,
        ]),
    ),
    trashedFiles: words(trashed.filter(isFile).map(brief)),
    folders: words(
      live
        .filter((item) => !isFile(item))
        .map((folder) => [...brief(folder), owner(folder), model.seenParent(actor, folder)?.id]),
    ),
    trashedFolders: words(trashed.filter((item) => !isFile(item)).map(brief)),
    usage: {
      storage_quota: model.quota,
      storage_used: model.used(actor),
      files: own.filter((file) => file.trashed === null).length,
      trashed_files: own.filter((file) => file.trashed !== null).length,
      versions_bytes: sum(own.filter((file) => file.trashed === null).map(older)),
      trash_bytes: sum(own.filter((file) => file.trashed !== null).map(({ versions }) => sizes(versions))),
      metadata_bytes: 0,
    },
  };
}

/** Returns the stored data of every live item, as its owner gets them: contents and versions of files, and all grants. */
export async function contentsOf(
  model: ContentModel,
  people: readonly Person[],
): Promise<{ served: unknown; modelled: unknown }> {
  const [served, modelled]: [string[], string[]] = [[], []];
  for (const item of model.items.values()) {
    if (item.trashed !== null) continue;
    const { api } = people[item.owner] as Person;
    const path = `/${item.kind}s/${item.id}`;
    const grants = await all(api, `${path}/permissions`);
    served.push(...words(grants.map((grant) => [item.id, grant.user_id, grant.permission_level, grant.granted_by])));
    const ofItem = model.grants.filter((grant) => grant.item.id === item.id);
    modelled.push(...words(ofItem.map(({ user, level, by }) => [item.id, people[user]?.id, level, people[by]?.id])));
    if (item.kind === 'folder') continue;
    const [versions, { bytes }] = await Promise.all([all(api, `${path}/versions`), api.get(`${path}/download`)]);
    served.push(item.id, ...words(versions.map(({ version_number, size }) => [version_number, size])), bytes.toString('latin1'));
    modelled.push(
      item.id,
      ...words([...item.versions].map(([number, text]) => [number, text.length])),
      item.versions.get(item.current) ?? '',
    );
  }
  return { served, modelled };
}

const words = (rows: readonly (readonly unknown[])[]): string[] => rows.map((row) => row.join(' ')).toSorted();

// oxlint-disable-next-line typescript/no-explicit-any -- what the server sent, whatever that was
async function all(api: Api, path: string, query: Record<string, string | boolean> = {}): Promise<any[]> {
  const items = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await api.get(path, { query: { ...query, limit: '100', ...(cursor === '' ? {} : { cursor }) } });
    if (status !== 200) throw new Error(`GET ${path} answered ${status} ${JSON.stringify(body)}`);
    items.push(...body.data);
    cursor = body.pagination.next_cursor;
  }
  return items;
}
