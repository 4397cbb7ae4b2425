import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { Breadcrumb } from '../design/breadcrumb.tsx';
import { Button } from '../design/button.tsx';
import { EmptyState } from '../design/empty-state.tsx';
import { announce } from '../design/live-region.tsx';
import { Skeleton } from '../design/skeleton.tsx';
import { TextField } from '../design/text-field.tsx';
import { useWhenOnline } from '../design/use-when-online.ts';
import { t } from '../text/share.ts';
import { DropZone } from '../uploads/drop-zone.tsx';
import { ChildTable, foundInWords } from './child-table.tsx';
import { type Child, type Link, save, type SharedFolder } from './link.ts';
import { ProblemNote } from './problem-note.tsx';
import { SendFiles } from './send-files.tsx';
import { Terms } from './terms.tsx';
import { useChildren } from './use-children.ts';
import { useOpen } from './use-open.ts';
import { usePath } from './use-path.ts';

interface Props {
  readonly link: Link;
  readonly folder: SharedFolder;
  readonly name: string;
  readonly onRefused: (problem: ApiProblem) => Promise<void>;
}

/** Milliseconds without a key after which a search begins. */
const SETTLED_MS = 250;

/** A folder and those below it: their files one by one, or all as an archive. */
export function FolderView({ link, folder, name, onRefused }: Props) {
  const [path, go] = usePath();
  const [typed, setTyped] = useState('');
  const [query, setQuery] = useState('');
  const [sort, setSort] = useState('name');
  const [left, setLeft] = useState(folder.downloads_left);
  const [isSending, setSending] = useState(false);
  const [failed, setFailed] = useState<{ readonly at: typeof path; readonly problem: ApiProblem }>();
  const heading = useRef<HTMLHeadingElement>(null);
  const here = path.at(-1);
  const list = useChildren(link, { folderId: here?.id, query, sort }, onRefused);
  const { rows } = list;
  /** What is shown when a download is refused, which may be another folder by then. */
  const shown = useRef({ path, list });
  shown.current = { path, list };

  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [typed]);

  const isOpen = useOpen(link);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (isOpen && !wasOpen.current) list.reload();
    wasOpen.current = isOpen;
  }, [isOpen]);

  const open = (to: typeof path): void => {
    setTyped('');
    setQuery('');
    go(to);
    // The row that was pressed is gone.
    heading.current?.focus();
  };
  const download = async (address: string, what: string): Promise<void> => {
    setFailed(undefined);
    try {
      await link.require(address);
      save(address);
      announce(t('started', { name: what }));
      setLeft((before) => (before === null ? null : before - 1));
    } catch (error) {
      const problem = problemOf(error);
      setFailed({ at: path, problem });
      if (problem.code !== 'not_found') return;
      // The row that was pressed is about to go. If the link is dead, the list says so.
      if (shown.current.path === path) heading.current?.focus();
      shown.current.list.reload();
    }
  };
  useWhenOnline(failed?.problem, () => setFailed(undefined));
  const crumbs = [{ id: '', name }, ...path].map((step, depth) => ({
    id: step.id,
    label: step.name,
    href: location.pathname,
    icon: depth === 0 ? ('folder' as const) : undefined,
  }));
  const mayBeSentTo = folder.mode === 'both' && path.length === 0;
  const isUsedUp = left === 0;
  const isNothing = rows?.length === 0;
  useEffect(() => {
    // What a search finds changes below the field, where somebody types.
    if (query !== '' && rows) announce(isNothing ? t('nothingFound') : foundInWords(rows.length, list.isMore));
  }, [rows]);
  const isEmpty = isNothing && path.length === 0 && query === '';

  return (
    <main class="share-folder">
      <h1 ref={heading} class="c-hidden" tabIndex={-1}>
        {here?.name ?? name}
      </h1>
      <header class="share-head">
        <Breadcrumb
          label={t('path')}
          moreLabel={t('morePath')}
          crumbs={crumbs}
          onGo={({ id }) => open(path.slice(0, path.findIndex((step) => step.id === id) + 1))}
        />
        {mayBeSentTo && (
          <Button kind="primary" icon="upload" aria-expanded={isSending} onClick={() => setSending(!isSending)}>
            {t('send')}
          </Button>
        )}
        {!isEmpty && (
          <Button
            kind={folder.mode === 'download' ? 'primary' : 'secondary'}
            icon="download"
            disabled={isUsedUp}
            onClick={() => void download(link.addressOf('zip'), `${name}.zip`)}
          >
            {t('downloadAll')}
          </Button>
        )}
      </header>
      <Terms end={folder.expires_at} left={left} />
      {failed?.at === path && <ProblemNote problem={failed.problem} />}
      {mayBeSentTo && (
        <SendFiles link={link} folder={folder} onSent={list.reload} isShown={isSending} onShow={() => setSending(true)} />
      )}
      {folder.mode === 'both' && path.length > 0 && <DropZone onDrop={undefined} text={t('dropElsewhere', { name })} />}
      <TextField
        label={t('search')}
        isLabelHidden
        type="search"
        icon="search"
        placeholder={t('search')}
        clearLabel={t('clearSearch')}
        maxLength={255}
        autocomplete="off"
        value={typed}
        onValue={setTyped}
      />
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.again} />}
      {rows === undefined && list.isLoading && <Skeleton kind="rows" rows={6} label={t('loading')} />}
      {isNothing &&
        (query === '' ? (
          <EmptyState drawing="files" title={t('emptyTitle')}>
            {t('emptyText')}
          </EmptyState>
        ) : (
          <EmptyState drawing="search" title={t('nothingFound')}>
            {t('nothingFoundText')}
          </EmptyState>
        ))}
      {rows !== undefined && !isNothing && (
        <ChildTable
          label={here?.name ?? name}
          list={list}
          rows={rows}
          sort={sort}
          onSort={setSort}
          isUsedUp={isUsedUp}
          addressOf={({ id }: Child) => link.addressOfChild(id)}
          onOpen={({ id, name: of }) => open([...path, { id, name: of }])}
          onDownload={({ id, name: of }) => void download(link.addressOfChild(id), of)}
        />
      )}
    </main>
  );
}
