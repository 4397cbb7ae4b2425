import { useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import type { FileEntry, FolderEntry, Uploaded } from '../entry/api.ts';
import { FolderPath } from '../entry/folders.tsx';
import type { Refusal } from '../entry/messages.ts';
import { Preview } from '../entry/preview.tsx';
import { Uploads } from '../entry/uploads.tsx';
import type { PickerApi, PickerView, Shown } from './api.ts';
import type { Choice, Choosable } from './choices.ts';
import { EntryList } from './entry-list.tsx';
import { SearchForm } from './search-form.tsx';
import { t } from '../../text/lti.ts';

interface Props {
  readonly api: PickerApi;
  readonly view: PickerView;
  readonly choices: readonly Choice[];
  readonly onToggle: (file: Choosable) => void;
  readonly onUploaded: (files: readonly Choosable[]) => void;
  readonly failed: (error: unknown) => Refusal;
}

/** The current position: below the folder of the course, or below the person's own root. */
interface Position {
  readonly root: 'course' | 'own';
  readonly path: readonly Pick<FolderEntry, 'id' | 'name'>[];
}

/** Folders and files to choose from: roots, search, list, preview, uploads. */
export function Browse({ api, view, choices, onToggle, onUploaded, failed }: Props) {
  const [position, setPosition] = useState<Position>({ root: view.folder ? 'course' : 'own', path: [] });
  const [query, setQuery] = useState('');
  const [previewed, setPreviewed] = useState<FileEntry>();
  /** Grows with every upload, so that the list is fetched again. */
  const [uploads, setUploads] = useState(0);

  const heading = useRef<HTMLHeadingElement>(null);

  const { folder, own_only, user } = view;
  const folderId = position.path.at(-1)?.id ?? (position.root === 'course' ? (folder?.id ?? null) : null);
  const shown: Shown = query === '' ? { folderId } : { query, ...(own_only ? { owner: user.id } : {}) };
  const go = (to: Position): void => {
    // The pressed button disappears with its list.
    heading.current?.focus();
    setQuery('');
    setPosition(to);
  };
  const uploaded = (files: readonly Uploaded[]): void => {
    setUploads((count) => count + 1);
    onUploaded(files);
  };
  const rootName = position.root === 'course' ? (folder?.name ?? '') : t('myFiles');
  const names = [rootName, ...position.path.map(({ name }) => name)];
  const rootButton = (root: Position['root'], name: string) => (
    <Button aria-current={query === '' && position.root === root ? 'true' : undefined} onClick={() => go({ root, path: [] })}>
      {name}
    </Button>
  );

  return (
    <>
      <SearchForm query={query} onSearch={setQuery} />
      {folder && (
        <nav aria-label={t('picker.where')} class="roots">
          {rootButton('course', folder.name)}
          {rootButton('own', t('myFiles'))}
        </nav>
      )}
      <section aria-labelledby="list-heading">
        <h2 id="list-heading" ref={heading} tabIndex={-1}>
          {query === '' ? names.at(-1) : t('picker.found', { query })}
        </h2>
        {query === '' && position.path.length > 0 && (
          <FolderPath names={names} onGo={(depth) => go({ ...position, path: position.path.slice(0, depth) })} />
        )}
        <EntryList
          key={JSON.stringify(shown)}
          api={api}
          view={view}
          shown={shown}
          changes={uploads}
          choices={choices}
          failed={failed}
          onOpen={({ id, name }) =>
            go(query === '' ? { ...position, path: [...position.path, { id, name }] } : { root: 'own', path: [{ id, name }] })
          }
          onToggle={onToggle}
          onPreview={setPreviewed}
        />
      </section>
      {(position.root === 'own' || folder?.may_write) && query === '' && (
        <Uploads api={api} folderId={folderId} failed={failed} onUploaded={uploaded} />
      )}
      {previewed && <Preview api={api} file={previewed} failed={failed} onClose={() => setPreviewed(undefined)} />}
    </>
  );
}
