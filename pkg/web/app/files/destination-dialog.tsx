import { type Dispatch, type StateUpdater, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Breadcrumb } from '../../design/breadcrumb.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { TextField } from '../../design/text-field.tsx';
import { count, t } from '../../text/files.ts';
import { count as countLater, t as later } from '../../text/files-later.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { useSettled } from '../use-settled.ts';
import type { Entry } from './entry.ts';
import { FolderChoices } from './folder-choices.tsx';
import { NewFolderForm } from './new-folder-dialog.tsx';
import { searchSource, subfolderSource } from './sources.ts';
import { useEntries } from './use-entries.ts';
import { wayTo } from './way-to.ts';

interface Props {
  /** `choose`: a folder for another purpose, which the root is not. */
  readonly kind: 'move' | 'copy' | 'choose';
  readonly entries: readonly Entry[];
  /** null: one's own root. */
  readonly onChoose: (folderId: string | null) => void;
  readonly onClose: () => void;
}

type Step = Pick<Entry, 'id' | 'name' | 'access'>;

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
const ROOT = 'root';

/** Asks for the folder into which entries go: one walks through the folders or searches them, and may make one. */
export function DestinationDialog({ kind, entries, onChoose, onClose }: Props) {
  const client = useClient();
  const root: Step = { id: ROOT, name: t('mine') };
  const [way, setWay] = useState<readonly Step[]>([root]);
  const [isNew, setNew] = useState(false);
  const [text, setText] = useState('');
  const settled = useSettled(text.trim());
  const q = text.trim() === '' ? '' : settled;
  const here = way.at(-1) ?? root;
  const listed = useEntries(q === '' ? subfolderSource(client, here.id) : searchSource(client, { q, type: 'folder' }));
  const { rows, isLoading, problem, list } = listed;
  const isMoving = useMemo(() => movingFolders(entries), [entries]);
  const choices = rows.loaded.filter((folder) => !isMoving(folder));
  const jump = useJump(setWay);
  const open = ({ id, name, access }: Entry): void => {
    if (q === '') return setWay([...way, { id, name, access }]);
    setText('');
    jump({ id, name, access });
  };
  const isClosed = kind !== 'choose' && here.access === 'read';
  // What is found is no folder that is open: the buttons would act on one that is out of sight.
  const isSearching = text.trim() !== '';

  return (
    <Dialog
      title={TITLES[kind](entries.length)}
      closeLabel={t('close')}
      onClose={onClose}
      actions={
        <>
          <Button icon="folder-add" kind="quiet" disabled={isSearching || here.access === 'read'} onClick={() => setNew(true)}>
            {t('newFolder')}
          </Button>
          <Button
            kind="primary"
            disabled={isSearching || isClosed || (kind === 'choose' && here.id === ROOT)}
            onClick={() => onChoose(here.id === ROOT ? null : here.id)}
          >
            {DO[kind]()}
          </Button>
        </>
      }
    >
      <TextField
        label={later('searchFolders')}
        isLabelHidden
        type="search"
        icon="search"
        placeholder={later('searchFolders')}
        value={text}
        onValue={setText}
        clearLabel={later('clearSearch')}
        autocomplete="off"
        maxLength={200}
      />
      <Breadcrumb
        label={t('path')}
        moreLabel={t('more')}
        crumbs={way.map(({ id, name }) => ({ id, label: name, href: '#' }))}
        onGo={({ id }) => {
          setText('');
          setWay(way.slice(0, way.findIndex((step) => step.id === id) + 1));
        }}
      />
      {isNew && (
        <NewFolderForm
          parentId={here.id === ROOT ? null : here.id}
          onDone={(folder) => {
            setNew(false);
            setText('');
            setWay([...way, folder]);
          }}
        />
      )}
      {isClosed && <p class="files-quiet">{later('readOnlyFolder')}</p>}
      {problem && <ProblemNote problem={problem} onRetry={() => void list.more()} />}
      {choices.length === 0 && isLoading && <Skeleton kind="rows" label={t('loading')} />}
      {choices.length === 0 && !isLoading && !problem && (
        <p class="files-quiet">{q === '' ? t('noFolders') : later('noFoldersFound')}</p>
      )}
      <p class={q !== '' && choices.length > 0 ? 'files-quiet' : 'c-hidden'} role="status">
        {q !== '' && !isLoading && !problem && foundInWords(choices.length, rows.next === null)}
      </p>
      <FolderChoices
        label={q === '' ? here.name : later('searchFolders')}
        folders={choices}
        entries={listed}
        hasPaths={q !== ''}
        onOpen={open}
      />
    </Dialog>
  );
}

const foundInWords = (number: number, isAll: boolean): string =>
  [isAll ? countLater('foldersFound', number) : later('foldersMore', { count: number }), number > 0 && later('openFound')]
    .filter(Boolean)
    .join('. ');

/** Goes to a folder that was found, and then finds out where it is; until then, and if that fails, its own name is the way. */
function useJump(setWay: Dispatch<StateUpdater<readonly Step[]>>): (folder: Step) => void {
  const client = useClient();
  const running = useRef(new AbortController());
  useEffect(() => () => running.current.abort(), []);
  return (folder) => {
    running.current.abort();
    running.current = new AbortController();
    const { signal } = running.current;
    const root: Step = { id: ROOT, name: t('mine') };
    setWay([root, folder]);
    wayTo(client, folder.id, signal).then(
      // Unless somebody has gone on from there meanwhile.
      (found) => signal.aborted || setWay((now) => (now.length === 2 && now[1] === folder ? [root, ...found] : now)),
      () => undefined,
    );
  };
}

/** Returns a function that says whether a folder is one of the entries or below one: a folder does not go into itself. */
function movingFolders(entries: readonly Entry[]): (folder: Entry) => boolean {
  const folders = entries.filter(({ type }) => type === 'folder');
  const ids = new Set(folders.map(({ id }) => id));
  return ({ id, path, owner }) =>
    ids.has(id) || folders.some((each) => each.owner.id === owner.id && path.startsWith(`${each.path}/`));
}
