import { useLocation, useRoute } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { Breadcrumb, type Crumb } from '../../design/breadcrumb.tsx';
import { Button, LinkButton } from '../../design/button.tsx';
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
import { searchAddress } from './search-address.ts';
import { folderSource, type Sort } from './sources.ts';
import { useAccessChange } from './use-access-change.ts';
import { useEntries } from './use-entries.ts';
import { useFileActions } from './use-file-actions.tsx';
import { useSearchField } from './use-search-field.ts';
import { useView, ViewChoice } from './view-choice.tsx';
import { wayTo } from './way-to.ts';
import './files-page.css';

const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** The order that a heading gives, and the one that it gives when it is pressed again. */
const ORDERS: Readonly<Record<string, readonly [Sort, Sort]>> = {
  name: ['name', '-name'],
  time: ['-updated_at', 'updated_at'],
  size: ['-size,name', 'size,name'],
};
const columnOf = (sort: Sort): string => Object.keys(ORDERS).find((key) => ORDERS[key]?.includes(sort)) ?? 'name';

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
  const { value: way, problem, reload } = useLoaded((signal) => wayTo(client, id, signal), [id]);
  useAccessChange(entries.rows, reload);
  const here = way?.at(-1);
  const folderId = id === 'root' ? null : id;
  const isMissing = entries.problem?.code === 'not_found' && entries.rows.next === undefined;
  const title = isMissing ? t('noFolderTitle') : (here?.name ?? t('title'));
  useTitle(title);
  const mayWrite = useMay('write:files') && here?.access !== 'read';
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
    here !== undefined && { label: t('download'), icon: 'download', onSelect: () => actions.download([ofFolder(here)], title) },
  ];
  const onSort = (key: string): void => {
    const orders = ORDERS[key];
    if (orders) setSort(orders[sort === orders[0] ? 1 : 0]);
  };

  if (isMissing) return <NoFolder />;
  // Until the list is there, it may turn out that there is no folder. Where the way was known, the list says what is wrong.
  const isUnsure = problem?.code === 'not_found' && entries.rows.next === undefined;
  const fault = isUnsure || way !== undefined ? undefined : problem;
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
          linkProps={({ id: target, label: name }) =>
            way?.some((folder) => folder.id === target && folder.access === 'read')
              ? {}
              : dropProps({ id: target, name }, (dropped, isCopy) =>
                  actions[isCopy ? 'copy' : 'move'](dropped, target === 'root' ? null : target),
                )
          }
        />
        <span class="files-tools">
          <ViewChoice />
          <LinkButton icon="filter" href={searchAddress(folderId === null ? {} : { folder: folderId, here: '1' })}>
            {t('filter')}
          </LinkButton>
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
        folderId={mayWrite ? folderId : undefined}
        sorting={{ key: columnOf(sort), isDescending: sort.startsWith('-') }}
        onSort={onSort}
        onOpenFolder={(folder) => route(`/files/${folder.id}`)}
        empty={
          <EmptyState drawing="files" title={t('emptyTitle')}>
            {mayWrite ? t('emptyText') : ''}
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
