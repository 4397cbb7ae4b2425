import { useCallback, useRef, useState } from 'preact/hooks';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { FileIcon, KindIcon } from '../../design/file-icon.tsx';
import type { FolderEntry } from './api.ts';
import type { CourseApi, Shareable } from './course-api.ts';
import { FolderPath } from './folders.tsx';
import { type Failed, useLoaded, usePages } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { RefusalNote } from './notes.tsx';
import { PagedList } from './paged-list.tsx';
import { t } from '../../text/lti.ts';

interface Props {
  readonly api: CourseApi;
  readonly courseId: string;
  readonly failed: Failed;
}

/**
 * Lets an instructor share their own files and folders with everyone in the course, and undo that. Requests nothing until it is
 * opened.
 */
export function Share(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-labelledby="share-heading" class="share-in-course">
      <h2 id="share-heading">{t('share.heading')}</h2>
      <p>
        <Button aria-expanded={isOpen} aria-controls="share-list" onClick={() => setOpen(!isOpen)}>
          {isOpen ? t('share.close') : t('share.open')}
        </Button>
      </p>
      <div id="share-list">{isOpen && <OwnEntries {...props} />}</div>
    </section>
  );
}

function OwnEntries({ api, courseId, failed }: Props) {
  const ask = useCallback(() => api.context(courseId), [api, courseId]);
  const { loaded: context, refusal, retry } = useLoaded(ask, failed);

  if (refusal) return <RefusalNote refusal={refusal} onRetry={retry} />;
  if (!context) return <p role="status">{t('loading')}</p>;
  return <OwnFolders api={api} groupId={context.group_id} failed={failed} />;
}

interface FoldersProps {
  readonly api: CourseApi;
  /** The course's group. */
  readonly groupId: string;
  readonly failed: Failed;
}

/** The current folder below the person's own root. */
function OwnFolders({ api, groupId, failed }: FoldersProps) {
  const [path, setPath] = useState<readonly Pick<FolderEntry, 'id' | 'name'>[]>([]);
  const heading = useRef<HTMLHeadingElement>(null);
  const here = path.at(-1);
  const go = (to: typeof path): void => {
    // The pressed button disappears with its list.
    heading.current?.focus();
    setPath(to);
  };

  return (
    <>
      <h3 ref={heading} tabIndex={-1}>
        {here?.name ?? t('myFiles')}
      </h3>
      {path.length > 0 && (
        <FolderPath names={[t('myFiles'), ...path.map(({ name }) => name)]} onGo={(depth) => go(path.slice(0, depth))} />
      )}
      <OwnFolder
        key={here?.id}
        api={api}
        groupId={groupId}
        folderId={here?.id ?? null}
        failed={failed}
        onOpen={({ id, name }) => go([...path, { id, name }])}
      />
    </>
  );
}

interface FolderProps extends FoldersProps {
  /** Null: the person's root. */
  readonly folderId: string | null;
  readonly onOpen: (folder: FolderEntry) => void;
}

function OwnFolder({ api, groupId, folderId, failed, onOpen }: FolderProps) {
  const ask = useCallback((cursor?: string) => api.shareables(folderId, groupId, cursor), [api, folderId, groupId]);
  const list = usePages(ask, failed, 0);

  return (
    <PagedList
      list={list}
      label={t('myFiles')}
      empty={t('noFiles')}
      row={(entry) => <ShareRow key={entry.id} api={api} entry={entry} groupId={groupId} failed={failed} onOpen={onOpen} />}
    />
  );
}

interface RowProps extends FoldersProps {
  readonly entry: Shareable;
  readonly onOpen: (folder: FolderEntry) => void;
}

function ShareRow({ api, entry, groupId, failed, onOpen }: RowProps) {
  /** Null: the course has no grant. */
  const [grant, setGrant] = useState<string | null>(entry.grant?.id ?? null);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const isShared = grant !== null;

  const toggle = async (): Promise<void> => {
    setBusy(true);
    setRefusal(undefined);
    try {
      setGrant(isShared ? await api.takeBack(entry, grant) : await api.share(entry, groupId));
    } catch (error) {
      setRefusal(failed(error));
    }
    setBusy(false);
  };

  return (
    <li>
      {entry.type === 'folder' ? <KindIcon kind="folder" /> : <FileIcon mimeType={null} name={entry.name} />}
      <span class="name">{entry.name}</span>
      {entry.type === 'folder' && <span class="facts">{t('folder')}</span>}
      <span role="status">{isShared && <Badge tone="success">{t('share.shared')}</Badge>}</span>
      {entry.type === 'folder' && (
        <Button size="s" kind="quiet" aria-label={t('share.openFolder', { name: entry.name })} onClick={() => onOpen(entry)}>
          {t('open')}
        </Button>
      )}
      <Button
        size="s"
        aria-label={t(isShared ? 'share.takeBackOf' : 'share.giveOf', { name: entry.name })}
        aria-disabled={isBusy}
        onClick={() => void (isBusy || toggle())}
      >
        {t(isShared ? 'share.takeBack' : 'share.give')}
      </Button>
      {refusal && <RefusalNote refusal={refusal} />}
    </li>
  );
}
