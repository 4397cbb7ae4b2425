import { useLocation, useRoute } from 'preact-iso';
import type { Child, Folder } from '../../api/operations.generated.ts';
import { Breadcrumb } from '../../design/breadcrumb.tsx';
import { Icon } from '../../design/icon.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { t } from '../../text/files.ts';
import { timeInWords } from '../../text/language.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMay } from '../services.ts';
import { sizeInWords } from '../size-in-words.ts';
import { useLoaded } from '../use-loaded.ts';
import { useArrivals, useDropTarget } from '../uploads/current.ts';
import { UploadButton } from '../uploads/upload-button.tsx';
import { useTitle } from '../use-title.ts';
import './files-page.css';

/** A folder: where it is and what is in it. */
export function FilesPage() {
  const { id } = useRoute().params;
  const client = useClient();
  const { route } = useLocation();
  const { value, problem, reload } = useLoaded(
    async (signal) => {
      const [way, children] = await Promise.all([
        id === undefined ? [] : wayTo(id, (folder) => client.get('/folders/{id}', { path: { id: folder }, signal })),
        client.get('/folders/{id}/children', { path: { id: id ?? 'root' }, query: { sort: 'name', limit: 200 }, signal }),
      ]);
      return { way, entries: children.data };
    },
    [id],
  );
  const title = value?.way.at(-1)?.name ?? t('title');
  useTitle(title);
  const mayUpload = useMay('write:files');
  const folderId = id ?? null;
  useDropTarget(mayUpload ? { folderId, name: title } : undefined);
  useArrivals(folderId, reload);
  const crumbs = [
    { id: 'root', label: t('mine'), href: '/' },
    ...(value?.way ?? []).map((folder) => ({ id: folder.id, label: folder.name, href: `/files/${folder.id}` })),
  ];

  return (
    <div class="files">
      <h1 class="c-hidden">{title}</h1>
      <Breadcrumb label={t('path')} moreLabel={t('more')} crumbs={crumbs} onGo={({ href }) => route(href)} />
      {mayUpload && <UploadButton folderId={folderId} />}
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton kind="rows" label={t('loading')} />}
      {value && <Entries entries={value.entries} />}
    </div>
  );
}

/** Returns the folder and those above it, the highest first. */
async function wayTo(id: string, folderOf: (id: string) => Promise<Folder>): Promise<readonly Folder[]> {
  const way: Folder[] = [];
  for (let next: string | null = id; next !== null; next = way[0]?.parent_id ?? null) way.unshift(await folderOf(next));
  return way;
}

function Entries({ entries }: { readonly entries: readonly Child[] }) {
  if (entries.length === 0) return <p>{t('empty')}</p>;
  return (
    <table class="files-list">
      <thead>
        <tr>
          <th scope="col">{t('name')}</th>
          <th scope="col">{t('size')}</th>
          <th scope="col">{t('changed')}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id}>
            <td>
              <Icon name={entry.type === 'folder' ? 'folder' : 'list'} />{' '}
              {entry.type === 'folder' ? <a href={`/files/${entry.id}`}>{entry.name}</a> : entry.name}
            </td>
            <td>{entry.type === 'file' ? sizeInWords(entry.size) : ''}</td>
            <td>{timeInWords(entry.updated_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
