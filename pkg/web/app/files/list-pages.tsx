import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../design/button.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { type Drawing, EmptyState } from '../../design/empty-state.tsx';
import { toasts } from '../../design/toast.tsx';
import { t } from '../../text/files.ts';
import { failureToast } from '../failure-toast.ts';
import { useClient } from '../services.ts';
import { useTitle } from '../use-title.ts';
import { EntriesView } from './entries-view.tsx';
import type { Entry } from './entry.ts';
import { searchAddress } from './search-address.ts';
import { recentSource, sharedSource, type Source, trashSource } from './sources.ts';
import { useEntries } from './use-entries.ts';
import { useFileActions } from './use-file-actions.tsx';
import { useSearchField } from './use-search-field.ts';
import { useView, ViewChoice } from './view-choice.tsx';
import './files-page.css';

interface Props {
  readonly title: string;
  readonly source: Source;
  readonly extra: 'path' | 'owner' | 'expires';
  readonly drawing: Drawing;
  readonly emptyTitle: string;
  readonly emptyText: string;
  readonly isTrash?: boolean;
  /** Shows the way to the filters, which are for all files that the reader may see. */
  readonly hasFilter?: boolean;
}

/** A list of entries that is no folder: recent, shared, deleted. */
function ListPage({ title, source, extra, drawing, emptyTitle, emptyText, isTrash = false, hasFilter = false }: Props) {
  const { route } = useLocation();
  const chosen = useView();
  const entries = useEntries(source);
  const actions = useFileActions(entries.list);
  useSearchField();
  useTitle(title);
  const folderOf = ({ parentId }: Entry): string => (parentId == null ? '/' : `/files/${parentId}`);
  return (
    <div class="files">
      <header class="files-head">
        <h1 class="files-heading">{title}</h1>
        <span class="files-tools">
          {isTrash ? entries.rows.loaded.length > 0 && <EmptyTrash onDone={() => void entries.list.reload()} /> : <ViewChoice />}
          {hasFilter && (
            <LinkButton icon="filter" href={searchAddress({})}>
              {t('filter')}
            </LinkButton>
          )}
        </span>
      </header>
      <EntriesView
        label={title}
        entries={entries}
        actions={actions}
        view={isTrash ? 'list' : chosen}
        extra={extra}
        isTrash={isTrash}
        onOpenFolder={(folder) => route(`/files/${folder.id}`)}
        onShowFolder={(entry) => route(folderOf(entry))}
        empty={
          <EmptyState drawing={drawing} title={emptyTitle}>
            {emptyText}
          </EmptyState>
        }
      />
    </div>
  );
}

function EmptyTrash({ onDone }: { readonly onDone: () => void }) {
  const client = useClient();
  const [isAsked, setAsked] = useState(false);
  const empty = async (): Promise<void> => {
    try {
      await client.delete('/trash');
      toasts.show({ text: t('emptyTrashDone') });
    } catch (error) {
      failureToast(error);
    }
    setAsked(false);
    onDone();
  };
  return (
    <>
      <Button icon="trash" onClick={() => setAsked(true)}>
        {t('emptyTrash')}
      </Button>
      {isAsked && (
        <Confirm
          title={t('emptyTrashQuestion')}
          confirmLabel={t('emptyTrash')}
          cancelLabel={t('cancel')}
          isDanger
          onConfirm={empty}
          onCancel={() => setAsked(false)}
        >
          {t('purgeText')}
        </Confirm>
      )}
    </>
  );
}

export function RecentPage() {
  const source = recentSource(useClient());
  const texts = { title: t('recent'), emptyTitle: t('emptyRecentTitle'), emptyText: t('emptyRecentText') };
  return <ListPage {...texts} source={source} extra="path" drawing="files" hasFilter />;
}

export function SharedPage() {
  const source = sharedSource(useClient());
  const texts = { title: t('shared'), emptyTitle: t('emptySharedTitle'), emptyText: t('emptySharedText') };
  return <ListPage {...texts} source={source} extra="owner" drawing="shared" />;
}

export function TrashPage() {
  const source = trashSource(useClient());
  const texts = { title: t('trash'), emptyTitle: t('emptyTrashTitle'), emptyText: t('emptyTrashText') };
  return <ListPage {...texts} source={source} extra="expires" drawing="trash" isTrash />;
}
