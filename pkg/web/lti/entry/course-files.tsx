import { useRef, useState } from 'preact/hooks';
import type { Api, FolderEntry, Launch } from './api.ts';
import { FileList } from './file-list.tsx';
import { FolderPath } from './folders.tsx';
import type { Failed } from './loaded.ts';
import { Uploads } from './uploads.tsx';
import { t } from '../../text/lti.ts';

interface Props {
  readonly api: Api;
  /** The course's folder. */
  readonly folder: NonNullable<Launch['folder']>;
  readonly failed: Failed;
}

/** The course's folder and those below it: their files, and uploads if the user may write. */
export function CourseFiles({ api, folder, failed }: Props) {
  const [path, setPath] = useState<readonly Pick<FolderEntry, 'id' | 'name'>[]>([]);
  /** Grows with every uploaded file, so that the list is fetched again. */
  const [uploaded, setUploaded] = useState(0);
  const heading = useRef<HTMLHeadingElement>(null);
  const here = path.at(-1) ?? folder;
  const go = (to: typeof path): void => {
    // The pressed button disappears with its list.
    heading.current?.focus();
    setPath(to);
  };

  return (
    <>
      {folder.may_write && (
        <Uploads api={api} folderId={here.id} failed={failed} onUploaded={() => setUploaded((count) => count + 1)} />
      )}
      <section aria-labelledby="files-heading">
        <h2 id="files-heading" ref={heading} tabIndex={-1}>
          {path.length === 0 ? t('files') : here.name}
        </h2>
        {path.length > 0 && (
          <FolderPath names={[folder.name, ...path.map(({ name }) => name)]} onGo={(depth) => go(path.slice(0, depth))} />
        )}
        <FileList
          key={here.id}
          api={api}
          folderId={here.id}
          failed={failed}
          changes={uploaded}
          onOpen={({ id, name }) => go([...path, { id, name }])}
        />
      </section>
    </>
  );
}
