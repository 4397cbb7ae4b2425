import { useState } from 'preact/hooks';
import type { Client } from '../../api/client.ts';
import { Breadcrumb } from '../../design/breadcrumb.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { KindIcon } from '../../design/file-icon.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { count, t } from '../../text/files.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import type { Entry } from './entry.ts';
import { NewFolderForm } from './new-folder-dialog.tsx';
import type { Source } from './sources.ts';
import { ofFolder } from './entry.ts';
import { useEntries } from './use-entries.ts';

interface Props {
  /** `choose`: a folder for another purpose, which the root is not. */
  readonly kind: 'move' | 'copy' | 'choose';
  readonly entries: readonly Entry[];
  /** null: one's own root. */
  readonly onChoose: (folderId: string | null) => void;
  readonly onClose: () => void;
}

interface Step {
  readonly id: string;
  readonly name: string;
}

/** The folders in a folder, by name. */
const foldersIn = (client: Client, id: string): Source => ({
  key: `folders ${id}`,
  page: async ({ cursor, known, signal }) => {
    const query = { parent_id: id, sort: 'name', limit: 100, ...(cursor === undefined ? {} : { cursor }) };
    const read = await client.getIfChanged('/folders', { query, signal }, known);
    return read && { body: { rows: read.body.data.map(ofFolder), next: read.body.pagination.next_cursor }, etag: read.etag };
  },
});

const TITLES: Readonly<Record<Props['kind'], (number: number) => string>> = {
  move: (number) => count('moveTitle', number),
  copy: (number) => count('copyTitle', number),
  choose: () => t('chooseFolder'),
};
const DO: Readonly<Record<Props['kind'], () => string>> = {
  move: () => t('moveHere'),
  copy: () => t('copyHere'),
  choose: () => t('chooseHere'),
};

/** Asks for the folder into which entries go: one walks through the folders, and may make one. */
export function DestinationDialog({ kind, entries, onChoose, onClose }: Props) {
  const client = useClient();
  const [way, setWay] = useState<readonly Step[]>([{ id: 'root', name: t('mine') }]);
  const [isNew, setNew] = useState(false);
  const here = way.at(-1)?.id ?? 'root';
  const { rows, isLoading, problem, list } = useEntries(foldersIn(client, here));
  const moving = new Set(entries.map(({ id }) => id));
  const choices = rows.loaded.filter(({ id }) => !moving.has(id)); // a folder does not go into itself

  return (
    <Dialog
      title={TITLES[kind](entries.length)}
      closeLabel={t('close')}
      onClose={onClose}
      actions={
        <>
          <Button icon="folder-add" kind="quiet" onClick={() => setNew(true)}>
            {t('newFolder')}
          </Button>
          <Button
            kind="primary"
            disabled={kind === 'choose' && here === 'root'}
            onClick={() => onChoose(here === 'root' ? null : here)}
          >
            {DO[kind]()}
          </Button>
        </>
      }
    >
      <Breadcrumb
        label={t('path')}
        moreLabel={t('more')}
        crumbs={way.map(({ id, name }) => ({ id, label: name, href: '#' }))}
        onGo={({ id }) => setWay(way.slice(0, way.findIndex((step) => step.id === id) + 1))}
      />
      {isNew && (
        <NewFolderForm
          parentId={here === 'root' ? null : here}
          onDone={(folder) => {
            setNew(false);
            setWay([...way, folder]);
          }}
        />
      )}
      {problem && <ProblemNote problem={problem} onRetry={() => void list.more()} />}
      {rows.count > 0 && choices.length === 0 && isLoading && <Skeleton kind="rows" label={t('loading')} />}
      {choices.length === 0 && !isLoading && !problem && <p class="files-quiet">{t('noFolders')}</p>}
      <EndlessList
        isMore={rows.next !== null && choices.length > 0}
        isLoading={isLoading}
        hasFailed={problem !== undefined}
        moreLabel={t('loadMore')}
        onMore={() => void list.more()}
      >
        <ul role="list" class="files-folders">
          {choices.map(({ id, name }) => (
            <li key={id}>
              <button type="button" class="files-folder" onClick={() => setWay([...way, { id, name }])}>
                <KindIcon kind="folder" />
                <span class="files-name">{name}</span>
              </button>
            </li>
          ))}
        </ul>
      </EndlessList>
    </Dialog>
  );
}
