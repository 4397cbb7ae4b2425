import { useState } from 'preact/hooks';
import type { Schedule } from '../../../api/operations.generated.ts';
import { Badge } from '../../../design/badge.tsx';
import { Button } from '../../../design/button.tsx';
import { EmptyState } from '../../../design/empty-state.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { t } from '../../../text/schedules.ts';
import { useClient, useMay } from '../../services.ts';
import { useLater } from '../../use-later.ts';
import { usePages } from '../../use-pages.ts';
import { AdminPage } from '../admin-page.tsx';
import { PageProblem } from '../page-problem.tsx';
import { cronInWords } from './times.ts';
import './schedules.css';

/** The work of the tenant that repeats, and when it runs next. */
export function SchedulesPage() {
  const client = useClient();
  const mayChange = useMay('write:schedules');
  const [isAdding, setAdding] = useState(false);
  const [ScheduleDialog, loadDialog] = useLater(async () => (await import('./schedule-dialog.tsx')).ScheduleDialog);
  const begin = async (): Promise<void> => setAdding(await loadDialog());
  const list = usePages((cursor, signal) => client.get('/schedules', { query: { limit: 50, cursor }, signal }), []);
  const add = mayChange && (
    <Button kind="primary" icon="add" onClick={() => void begin()}>
      {t('add')}
    </Button>
  );
  return (
    <AdminPage title={t('title')} action={add}>
      {list.problem && <PageProblem problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && (
        <EmptyState drawing="done" title={t('none')}>
          {t('noneText')}
        </EmptyState>
      )}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="schedules-list">
            {list.items.map((schedule) => (
              <Row key={schedule.id} schedule={schedule} />
            ))}
          </ul>
        </EndlessList>
      )}
      {isAdding && ScheduleDialog && (
        <ScheduleDialog
          onClose={() => setAdding(false)}
          onSaved={() => {
            setAdding(false);
            list.reload();
          }}
        />
      )}
    </AdminPage>
  );
}

function Row({ schedule }: { readonly schedule: Schedule }) {
  const { id, name, kind, cron, time_zone, managed_by, next_run_at } = schedule;
  return (
    <li class="schedules-row">
      <div class="schedules-what">
        <a class="schedules-name" href={`/admin/schedules/${id}`}>
          {name}
        </a>
        <p class="admin-quiet">{t(`kind.${kind}`)}</p>
      </div>
      <div class="schedules-when">
        <p>{t('inZone', { when: cronInWords(cron), zone: time_zone })}</p>
        <p class="admin-quiet">
          {next_run_at === null ? (
            t('off')
          ) : (
            <>
              {t('next')}: <DateTime value={next_run_at} />
            </>
          )}
        </p>
      </div>
      {managed_by !== null && <Badge icon="lock">{t('managed')}</Badge>}
    </li>
  );
}
