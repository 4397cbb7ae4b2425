import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../../design/live-region.tsx';
import { EmptyState } from '../../design/empty-state.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { TextField } from '../../design/text-field.tsx';
import { count, t } from '../../text/links.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMay, useMe } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { useSettled } from '../use-settled.ts';
import { useTitle } from '../use-title.ts';
import { hasEnded } from '../sharing/link-terms.ts';
import { LinksOff } from '../sharing/links-off.tsx';
import { DeleteEnded } from './delete-ended.tsx';
import { LinkRow } from './link-row.tsx';
import './links-page.css';

/** All links that somebody has made; for administrators also those of everybody. */
export function LinksPage() {
  const seesAll = useMay('write:users');
  const [whose, setWhose] = useState('mine');
  useTitle(t('title'));
  const list = <Links key={whose} isAll={whose === 'all'} />;
  return (
    <div class="links">
      <h1>{t('title')}</h1>
      <LinksOff />
      {seesAll ? (
        <Tabs
          label={t('which')}
          tabs={[
            { id: 'mine', label: t('mine') },
            { id: 'all', label: t('all') },
          ]}
          selected={whose}
          onSelect={setWhose}
        >
          {list}
        </Tabs>
      ) : (
        list
      )}
    </div>
  );
}

function Links({ isAll }: { readonly isAll: boolean }) {
  const client = useClient();
  const me = useMe();
  const mayShare = useMay('share:files');
  const [deleted, setDeleted] = useState(0);
  const text = useRef<HTMLParagraphElement>(null);
  // The row goes with its menu, which had the focus.
  useLayoutEffect(() => {
    if (deleted > 0) text.current?.focus();
  }, [deleted]);
  const [typed, setTyped] = useState('');
  const q = useSettled(typed.trim());
  const links = usePages(
    (cursor, signal) =>
      client.get('/shares', { query: { limit: 50, cursor, q: q || undefined, owner: isAll ? undefined : me.user.id }, signal }),
    [isAll, q],
  );
  const { items, isMore } = links;
  // The field is there once there was a link: it keeps the focus when a search finds none.
  const isSearchable = useRef(false);
  if (items && items.length > 0) isSearchable.current = true;
  useEffect(() => {
    // What a search finds changes below the field, where somebody types.
    if (q === '' || !items) return;
    if (items.length === 0) announce(t('noneFoundTitle'));
    else announce(isMore ? t('foundMore', { count: items.length }) : count('found', items.length));
  }, [items]);
  return (
    <>
      <p ref={text} class="links-text" tabIndex={-1}>
        {isAll ? t('textAll') : t('text')} {isAll && <a href="/admin/links">{t('rules')}</a>}
      </p>
      {isSearchable.current && (
        <div class="links-tools">
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
          {!isAll && items?.some((link) => hasEnded(link, new Date())) && (
            <DeleteEnded
              q={q}
              onDone={() => {
                links.reload();
                setDeleted((count) => count + 1);
              }}
            />
          )}
        </div>
      )}
      {links.problem && <ProblemNote problem={links.problem} onRetry={links.more} />}
      {!items && !links.problem && <Skeleton kind="rows" label={t('loading')} />}
      {items?.length === 0 && q !== '' && (
        <EmptyState drawing="search" title={t('noneFoundTitle')}>
          {t('noneFoundText')}
        </EmptyState>
      )}
      {items?.length === 0 && q === '' && (
        <EmptyState drawing="shared" title={isAll ? t('emptyAllTitle') : t('emptyTitle')}>
          {isAll ? t('emptyAllText') : mayShare ? t('emptyText') : t('emptyMayNot')}
        </EmptyState>
      )}
      {items && items.length > 0 && (
        <EndlessList
          isMore={links.isMore}
          isLoading={links.isLoading}
          hasFailed={links.problem !== undefined}
          moreLabel={t('more')}
          onMore={links.more}
        >
          <ul role="list" class="links-list">
            {items.map((link) => (
              <LinkRow
                key={link.id}
                link={link}
                isOwnerShown={isAll}
                onChange={(changed) => links.change((all) => all.map((one) => (one.id === changed.id ? changed : one)))}
                onDelete={() => {
                  links.change((all) => all.filter(({ id }) => id !== link.id));
                  setDeleted((count) => count + 1);
                }}
              />
            ))}
          </ul>
        </EndlessList>
      )}
    </>
  );
}
