import { useLocation } from 'preact-iso';
import { useMemo, useRef } from 'preact/hooks';
import type { AuditEntry } from '../../../api/operations.generated.ts';
import { EmptyState } from '../../../design/empty-state.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t } from '../../../text/audit.ts';
import { locale } from '../../../text/language.ts';
import { useClient } from '../../services.ts';
import { usePages } from '../../use-pages.ts';
import { AdminPage } from '../admin-page.tsx';
import { PageProblem } from '../page-problem.tsx';
import { EntryLine } from './entry-line.tsx';
import { ExportMenu } from './export-menu.tsx';
import { type Filter, queryOf } from './filter.ts';
import { Filters } from './filters.tsx';
import './audit.css';

const PATH = '/admin/audit';

/** Who did what: filters in the address, entries by day, and all that match as a file. */
export function AuditPage() {
  const client = useClient();
  const { path, query: asked, route } = useLocation();
  // While another page is loaded, this one is shown with that page's address.
  const last = useRef<Filter>(asked);
  if (path === PATH) last.current = asked;
  const filter = last.current;
  const key = new URLSearchParams(filter).toString();
  const query = useMemo(() => queryOf(filter, new Date()), [key]);
  const entries = usePages((cursor, signal) => client.get('/audit', { query: { ...query, limit: 50, cursor }, signal }), [key]);
  const show = (changed: Filter): void => {
    const given = Object.entries(changed).filter(([, value]) => value !== '');
    route(`${PATH}?${new URLSearchParams(given)}`, true);
  };

  return (
    <AdminPage
      title={t('title')}
      action={
        <span class="audit-tools">
          <IconButton icon="refresh" label={t('refresh')} onClick={entries.reload} />
          <ExportMenu query={query} />
        </span>
      }
    >
      <p class="admin-quiet">{t('text')}</p>
      <Filters filter={filter} onFilter={show} />
      {entries.problem && <PageProblem problem={entries.problem} onRetry={entries.more} />}
      {!entries.items && !entries.problem && <Skeleton kind="rows" label={t('loading')} />}
      {entries.items?.length === 0 && (
        <div role="status">
          <EmptyState drawing="search" title={t('none')}>
            {t('noneText')}
          </EmptyState>
        </div>
      )}
      {entries.items && (
        <EndlessList
          isMore={entries.isMore}
          isLoading={entries.isLoading}
          hasFailed={entries.problem !== undefined}
          moreLabel={t('more')}
          onMore={entries.more}
        >
          {byDay(entries.items).map(([day, ofDay]) => (
            <section key={day} aria-label={day}>
              <h2 class="audit-day">{day}</h2>
              <ol role="list" class="audit-entries">
                {ofDay.map((entry) => (
                  <EntryLine key={entry.id} entry={entry} onFilter={show} />
                ))}
              </ol>
            </section>
          ))}
        </EndlessList>
      )}
    </AdminPage>
  );
}

/** Puts the entries of one day together, where the reader is. */
function byDay(entries: readonly AuditEntry[]): [string, AuditEntry[]][] {
  const format = new Intl.DateTimeFormat(locale(), { dateStyle: 'full' });
  const today = new Date();
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  const names = new Map([
    [format.format(today), t('today')],
    [format.format(yesterday), t('yesterday')],
  ]);
  const days = new Map<string, AuditEntry[]>();
  for (const entry of entries) {
    const date = format.format(new Date(entry.at));
    const day = names.get(date) ?? date;
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days];
}
