import { useLocation, useRoute } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import type { Folder } from '../../api/operations.generated.ts';
import { Breadcrumb, type Crumb } from '../../design/breadcrumb.tsx';
import { Button } from '../../design/button.tsx';
import { EmptyState } from '../../design/empty-state.tsx';
import type { MenuItem } from '../../design/menu.tsx';
import { t } from '../../text/files.ts';
import { NotFound } from '../not-found-page.tsx';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMay } from '../services.ts';
import { useArrivals, useDropTarget } from '../uploads/current.ts';
import { UploadButton, useUploadItems } from '../uploads/upload-button.tsx';
import { useLoaded } from '../use-loaded.ts';
import { useObserved } from '../use-observed.ts';
import { useTitle } from '../use-title.ts';
import { clip } from './clipboard.ts';
import { dropProps } from './drag.ts';
import { EntriesView } from './entries-view.tsx';
import { extensions, menuItemsOf } from './entry-actions.ts';
import { ofFolder } from './entry.ts';
import { NewFolderDialog } from './new-folder-dialog.tsx';
import { folderSource, type Sort } from './sources.ts';
import { useEntries } from './use-entries.ts';
import { useFileActions } from './use-file-actions.tsx';
import { useSearchField } from './use-search-field.ts';
import { useView, ViewChoice } from './view-choice.tsx';
import './files-page.css';

const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const COLUMNS: Readonly<Record<string, string>> = { name: 'name', time: 'updated_at' };

/** The person's own files, or the folder of the address. */
export function FilesPage() {
  const { id = 'root' } = useRoute().params;
  return id === 'root' || ID.test(id) ? <FolderPage id={id} /> : <NoFolder />;
}

/** An address that no folder has, or none that the person may see. */
function NoFolder() {
  useTitle(t('noFolderTitle'));
  return <NotFound title={t('noFolderTitle')} text={t('noFolderText')} />;
}

/** A folder: where it is, what is in it, and all that one does with that. */
function FolderPage({ id }: { readonly id: string }) {
  const { route } = useLocation();
  const client = useClient();
  const view = useView();
  const cut = useObserved(clip);
  const added = useObserved(extensions.actions);
  const [sort, setSort] = useState<Sort>('name');
  const [isMaking, setMaking] = useState(false);
  const entries = useEntries(folderSource(client, id, sort));
  const actions = useFileActions(entries.list);
  useSearchField();
  const {
    value: way,
    problem,
    reload,
  } = useLoaded((signal) => wayTo(id, (folder) => client.get('/folders/{id}', { path: { id: folder }, signal })), [id]);
  const here = way?.at(-1);
  const folderId = id === 'root' ? null : id;
  const isMissing = entries.problem?.code === 'not_found' && entries.rows.next === undefined;
  const title = isMissing ? t('noFolderTitle') : (here?.name ?? t('title'));
  useTitle(title);
  const mayWrite = useMay('write:files');
  const uploads = useUploadItems(folderId);
  useDropTarget(mayWrite && !isMissing ? { folderId, name: title } : undefined);
  useArrivals(folderId, () => void entries.list.reload());
  // Another folder begins at its top.
  useEffect(() => window.scrollTo(0, 0), [id]);

  const crumbs: Crumb[] = [
    { id: 'root', label: t('mine'), href: '/', icon: 'home' },
    ...(way ?? []).map((folder) => ({ id: folder.id, label: folder.name, href: `/files/${folder.id}` })),
  ];
  const commands: (MenuItem | false)[] = [
    ...(mayWrite ? uploads : []),
    mayWrite && { label: t('newFolder'), icon: 'folder-add', onSelect: () => setMaking(true) },
    mayWrite &&
      cut !== undefined && {
        label: t('paste'),
        icon: 'paste',
        onSelect: () => {
          actions.paste(cut, folderId);
          if (cut.kind === 'cut') clip.set(undefined);
        },
      },
    ...(here === undefined ? [] : menuItemsOf(added, ofFolder(here))),
    here !== undefined && { label: t('download'), icon: 'download', onSelect: () => actions.download(ofFolder(here)) },
  ];
  const onSort = (key: string): void => {
    const field = COLUMNS[key];
    // A time begins with the newest, a name with A; the same heading again turns the order round.
    if (field) setSort((sort === field || (sort !== `-${field}` && key === 'time') ? `-${field}` : field) as Sort);
  };

  if (isMissing) return <NoFolder />;
  // Until the list is there, it may turn out that there is no folder.
  const fault = problem?.code === 'not_found' && entries.rows.next === undefined ? undefined : problem;
  return (
    <div class="files">
      <h1 class="c-hidden">{title}</h1>
      <header class="files-head">
        <Breadcrumb
          label={t('path')}
          moreLabel={t('more')}
          crumbs={crumbs}
          onGo={({ href }) => route(href)}
          menu={{ label: t('folderActions'), items: commands.filter((item) => item !== false) }}
          linkProps={(crumb) => dropProps(crumb.id, (moved) => actions.move(moved, crumb.id === 'root' ? null : crumb.id))}
        />
        <span class="files-tools">
          <ViewChoice />
          {mayWrite && (
            <>
              <Button icon="folder-add" onClick={() => setMaking(true)}>
                {t('newFolder')}
              </Button>
              <UploadButton folderId={folderId} />
            </>
          )}
        </span>
      </header>
      {fault && <ProblemNote problem={fault} onRetry={reload} />}
      <EntriesView
        label={title}
        entries={entries}
        actions={actions}
        view={view}
        folderId={folderId}
        sorting={{ key: sort.endsWith('name') ? 'name' : 'time', isDescending: sort.startsWith('-') }}
        onSort={onSort}
        onOpenFolder={(folder) => route(`/files/${folder.id}`)}
        empty={
          <EmptyState drawing="files" title={t('emptyTitle')}>
            {t('emptyText')}
          </EmptyState>
        }
      />
      {isMaking && (
        <NewFolderDialog
          parentId={folderId}
          onClose={() => setMaking(false)}
          onDone={() => {
            setMaking(false);
            void entries.list.reload();
          }}
        />
      )}
    </div>
  );
}

/** Returns the folder and those above it, the highest first; none for the root. */
async function wayTo(id: string, folderOf: (id: string) => Promise<Folder>): Promise<readonly Folder[]> {
  const way: Folder[] = [];
  for (let next = id === 'root' ? null : id; next !== null; next = way[0]?.parent_id ?? null) way.unshift(await folderOf(next));
  return way;
}
