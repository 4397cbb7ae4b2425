import { useLocation } from 'preact-iso';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { EmptyState } from '../../design/empty-state.tsx';
import type { LazyRows } from '../../design/grid/lazy-rows.ts';
import { IconButton } from '../../design/icon-button.tsx';
import { announce } from '../../design/live-region.tsx';
import { Select } from '../../design/select.tsx';
import { count, t } from '../../text/files.ts';
import { useClient, useMay, useMe } from '../services.ts';
import { useLater } from '../use-later.ts';
import { useLoaded } from '../use-loaded.ts';
import { useTitle } from '../use-title.ts';
import { EntriesView } from './entries-view.tsx';
import type { Entry } from './entry.ts';
import { searchAddress } from './search-address.ts';
import { type SearchQuery, searchSource } from './sources.ts';
import { useEntries } from './use-entries.ts';
import { useFileActions } from './use-file-actions.tsx';
import { useSearchField } from './use-search-field.ts';
import { useView, ViewChoice } from './view-choice.tsx';
import './files-page.css';

const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30 };
const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * What a search finds: by words the best first, by filters alone the last changed first. Words and filters are in the address: it
 * can be sent to somebody, or kept as a bookmark.
 */
export function SearchPage() {
  const { path, query: asked, route } = useLocation();
  // While another page is loaded, this one is shown with that page's address.
  const last = useRef(asked);
  if (path === '/search') last.current = asked;
  const query = last.current;
  const client = useClient();
  const { user } = useMe();
  const view = useView();
  const { q = '', kind = '', tag = '', created = '', folder = '', here = '' } = query;
  const owner = query.owner === user.id ? 'me' : (query.owner ?? '');
  // To the minute, so that the source stays the same while nothing is changed.
  const after = useMemo(() => {
    const days = DAYS[created];
    return days === undefined ? undefined : new Date(Math.floor(Date.now() / 60_000) * 60_000 - days * DAY_MS).toISOString();
  }, [created]);
  const search: SearchQuery = {
    q,
    type: kind === 'folder' ? 'folder' : kind === '' ? undefined : 'file',
    mime_type: kind === '' || kind === 'folder' ? undefined : kind,
    tag: tag === '' ? undefined : tag,
    folder_id: here === '1' && folder !== '' ? folder : undefined,
    owner: owner === 'me' ? user.id : ID.test(owner) ? owner : undefined,
    created_after: after,
  };
  const isAsked = Object.values(search).some((value) => value !== undefined && value !== '');
  const source = searchSource(client, search);
  const entries = useEntries(source);
  const actions = useFileActions(entries.list);
  useSearchField();
  const title = q === '' ? t('filterTitle') : t('searchFor', { q });
  useTitle(title);
  const { value: tags, reload: reloadTags } = useLoaded(
    (signal) => client.get('/tags', { query: { sort: 'name', limit: 200 }, signal }),
    [],
  );
  const isThere = entries.rows.next !== undefined;
  useEffect(() => {
    // What is found changes below the field or the filter with the focus.
    if (!isAsked || !isThere) return;
    const { loaded, total } = entries.rows;
    if (loaded.length === 0) announce(t('noneFoundTitle'));
    else announce(total === undefined ? count('loaded', loaded.length) : count('items', total));
  }, [entries.list, isThere]);
  const owners = useOwners(entries.rows, user.id);
  const mayFind = useMay('share:files');
  const [isAsking, setAsking] = useState(false);
  const [AskOwner, loadAskOwner] = useLater(async () => (await import('./owner-dialog.tsx')).OwnerDialog);
  const [isManaging, setManaging] = useState(false);
  const [Tags, loadTags] = useLater(async () => (await import('./tags/tags-dialog.tsx')).TagsDialog);
  const set =
    (name: string) =>
    (value: string): void =>
      route(searchAddress({ ...query, [name]: value }), true);

  return (
    <div class="files">
      <header class="files-head">
        <h1 class="files-heading">{title}</h1>
        <span class="files-tools">
          <ViewChoice />
        </span>
      </header>
      <div class="files-filters" role="group" aria-label={t('filters')}>
        <Select
          label={t('filterKind')}
          value={kind}
          onValue={set('kind')}
          options={[
            { value: '', label: t('filterAny') },
            { value: 'folder', label: t('filterFolders') },
            { value: 'image/*', label: t('filterImages') },
            { value: 'application/pdf', label: t('filterPdf') },
            { value: 'text/*', label: t('filterText') },
            { value: 'audio/*', label: t('filterAudio') },
            { value: 'video/*', label: t('filterVideo') },
          ]}
        />
        <Select
          label={t('filterTime')}
          value={created}
          onValue={set('created')}
          options={[
            { value: '', label: t('filterAny') },
            { value: 'day', label: t('filterDay') },
            { value: 'week', label: t('filterWeek') },
            { value: 'month', label: t('filterMonth') },
          ]}
        />
        <span class="files-filter-with-button">
          <Select
            label={t('owner')}
            value={owner}
            onValue={set('owner')}
            options={[
              { value: '', label: t('filterAny') },
              { value: 'me', label: t('filterMine') },
              // Whoever opens an address with the filter sees at least that there is one.
              ...(ID.test(owner) && !owners.has(owner) ? [{ value: owner, label: t('somebody') }] : []),
              ...[...owners].map(([value, label]) => ({ value, label })),
            ]}
          />
          {mayFind && (
            <IconButton
              icon="person"
              label={t('filterOther')}
              onClick={() => void loadAskOwner().then((isLoaded) => setAsking(isLoaded))}
            />
          )}
        </span>
        {tags && (tags.data.length > 0 || tag !== '') && (
          <span class="files-filter-with-button">
            <Select
              label={t('filterTag')}
              value={tag}
              onValue={set('tag')}
              options={[
                { value: '', label: t('filterAny') },
                // The tag of an address may be somebody else's, or gone.
                ...(tag === '' || tags.data.some(({ id }) => id === tag) ? [] : [{ value: tag, label: t('unknownTag') }]),
                ...tags.data.map(({ id, name }) => ({ value: id, label: name })),
              ]}
            />
            <IconButton
              icon="edit"
              label={t('manageTags')}
              onClick={() => void loadTags().then((isLoaded) => setManaging(isLoaded))}
            />
          </span>
        )}
        {folder !== '' && (
          <Select
            label={t('filterLocation')}
            value={here}
            onValue={set('here')}
            options={[
              { value: '', label: t('filterEverywhere') },
              { value: '1', label: t('filterHere') },
            ]}
          />
        )}
      </div>
      <EntriesView
        label={title}
        entries={entries}
        actions={actions}
        view={view}
        extra="path"
        onOpenFolder={(found) => route(`/files/${found.id}`)}
        onShowFolder={({ parentId }) => route(parentId == null ? '/' : `/files/${parentId}`)}
        empty={
          isAsked ? (
            <EmptyState drawing="search" title={t('noneFoundTitle')}>
              {t('noneFoundText')}
            </EmptyState>
          ) : (
            <EmptyState drawing="search" title={t('noFilterTitle')}>
              {t('noFilterText')}
            </EmptyState>
          )
        }
      />
      {isManaging && Tags && (
        <Tags
          onClose={() => setManaging(false)}
          onChange={reloadTags}
          onDelete={(id) => {
            reloadTags();
            if (id === tag) set('tag')('');
          }}
        />
      )}
      {isAsking && AskOwner && (
        <AskOwner
          onClose={() => setAsking(false)}
          onChoose={({ id, name }) => {
            setAsking(false);
            owners.set(id, name);
            set('owner')(id);
          }}
        />
      )}
    </div>
  );
}

/** The owners of what was found since the page was opened, by name: when the filter narrows the list they can still be chosen. */
function useOwners(rows: LazyRows<Entry>, readerId: string): Map<string, string> {
  const seen = useRef(new Map<string, string>()).current;
  return useMemo(() => {
    for (const { owner } of rows.loaded) if (owner.id !== readerId) seen.set(owner.id, owner.name);
    const byName = [...seen].toSorted(([, a], [, b]) => a.localeCompare(b));
    seen.clear();
    for (const [id, name] of byName) seen.set(id, name);
    return seen;
  }, [rows]);
}
