import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { newId } from '../../../api/new-id.ts';
import type { Schedule } from '../../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../../api/problem.ts';
import { Button } from '../../../design/button.tsx';
import { Confirm } from '../../../design/confirm.tsx';
import { EndlessList } from '../../../design/endless-list.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { DateTime } from '../../../design/measures.tsx';
import { Menu } from '../../../design/menu.tsx';
import { Skeleton } from '../../../design/skeleton.tsx';
import { toasts } from '../../../design/toasts.ts';
import { inDigits } from '../../../text/language.ts';
import { t } from '../../../text/schedules.ts';
import { failureToast } from '../../failure-toast.ts';
import { JobRow } from '../../jobs/job-row.tsx';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient, useMay } from '../../services.ts';
import { Snapshot } from '../../snapshot.tsx';
import { useLater } from '../../use-later.ts';
import { useLoaded } from '../../use-loaded.ts';
import { useNewest } from '../../use-newest.ts';
import { usePages } from '../../use-pages.ts';
import { AdminPage } from '../admin-page.tsx';
import { BackLink } from '../../back-link.tsx';
import { ManagedNote } from '../managed-note.tsx';
import { PageProblem } from '../page-problem.tsx';
import { NextRuns } from './next-runs.tsx';
import { cronInWords } from './times.ts';
import { WorkFacts } from './work-facts.tsx';
import './schedules.css';

/** One schedule: what it does, when it runs next, and how its runs ended. */
export function SchedulePage() {
  const { id = '' } = useRoute().params;
  const client = useClient();
  const { value, problem, reload } = useLoaded((signal) => client.get('/schedules/{id}', { path: { id }, signal }), [id]);
  if (value) return <Loaded schedule={value} onChange={reload} />;
  return (
    <AdminPage title={t('title')} back={<BackLink href="/admin/schedules">{t('back')}</BackLink>}>
      {problem ? <PageProblem problem={problem} onRetry={reload} /> : <Skeleton label={t('loading')} />}
    </AdminPage>
  );
}

function Loaded({ schedule, onChange }: { readonly schedule: Schedule; readonly onChange: () => void }) {
  const client = useClient();
  const { route } = useLocation();
  const mayChange = useMay('write:schedules');
  const [shown, setShown] = useState<'edit' | 'remove'>();
  const [ScheduleDialog, loadDialog] = useLater(async () => (await import('./schedule-dialog.tsx')).ScheduleDialog);
  const edit = async (): Promise<void> => setShown((await loadDialog()) ? 'edit' : undefined);
  const close = (): void => setShown(undefined);
  const { id, name, active, etag, managed_by, managed_ref } = schedule;
  const isManaged = managed_by !== null;
  const path = { id };
  const run = async (): Promise<void> => {
    try {
      const job = await client.post('/schedules/{id}/run', { path, idempotencyKey: newId() });
      const action = { label: t('showJob'), onSelect: () => route(`/jobs/${job.id}`) };
      toasts.show({ text: t('begun', { name }), action });
      onChange();
    } catch (error) {
      failureToast(error);
    }
  };
  const setActive = (isActive: boolean): void =>
    void client
      .patch('/schedules/{id}', { path, body: { active: isActive }, ifMatch: etag })
      .then(onChange, (error: unknown) => failureToast(error, onChange));
  const tools = mayChange && (
    <span class="schedules-tools">
      <Button icon="play" onClick={() => void run()}>
        {t('runNow')}
      </Button>
      {!isManaged && (
        <>
          <Button icon="edit" onClick={() => void edit()}>
            {t('edit')}
          </Button>
          <Menu
            label={t('actions', { name })}
            align="end"
            items={[
              active
                ? { label: t('deactivate'), icon: 'pause', onSelect: () => setActive(false) }
                : { label: t('activate'), icon: 'play', onSelect: () => setActive(true) },
              'separator',
              { label: t('remove'), icon: 'trash', isDanger: true, onSelect: () => setShown('remove') },
            ]}
            trigger={(props) => <IconButton icon="more" label={t('actions', { name })} {...props} />}
          />
        </>
      )}
    </span>
  );
  return (
    <AdminPage title={name} back={<BackLink href="/admin/schedules">{t('back')}</BackLink>} action={tools}>
      {isManaged && (
        <ManagedNote kind="tenant" reference={managed_ref}>
          {t('managedText')}
        </ManagedNote>
      )}
      <div class="schedules-columns">
        <Facts schedule={schedule} />
        {active && <Upcoming schedule={schedule} />}
      </div>
      <Runs schedule={schedule} />
      {shown && (
        <Snapshot of={schedule} load={() => client.get('/schedules/{id}', { path })} onStale={onChange}>
          {(snapshot) => (
            <>
              {shown === 'edit' && ScheduleDialog && (
                <ScheduleDialog
                  schedule={snapshot}
                  onClose={close}
                  onSaved={() => {
                    close();
                    toasts.show({ text: t('saved'), tone: 'success' });
                    onChange();
                  }}
                />
              )}
              {shown === 'remove' && (
                <RemoveDialog schedule={snapshot} onClose={close} onRemoved={() => route('/admin/schedules')} />
              )}
            </>
          )}
        </Snapshot>
      )}
    </AdminPage>
  );
}

function Facts({ schedule }: { readonly schedule: Schedule }) {
  const { kind, cron, time_zone, active, next_run_at, skipped_runs, missed_runs } = schedule;
  return (
    <dl class="schedules-facts">
      <dt>{t('work')}</dt>
      <dd>{t(`kind.${kind}`)}</dd>
      <dt>{t('when')}</dt>
      <dd>
        {t('inZone', { when: cronInWords(cron), zone: time_zone })} <code class="admin-quiet schedules-cron">{cron}</code>
      </dd>
      <dt>{t('next')}</dt>
      <dd>{active && next_run_at !== null ? <DateTime value={next_run_at} /> : t('off')}</dd>
      <WorkFacts schedule={schedule} />
      {skipped_runs > 0 && (
        <>
          <dt>{t('skipped')}</dt>
          <dd>{inDigits(skipped_runs)}</dd>
        </>
      )}
      {missed_runs > 0 && (
        <>
          <dt>{t('missed')}</dt>
          <dd>{inDigits(missed_runs)}</dd>
        </>
      )}
    </dl>
  );
}

function Upcoming({ schedule: { cron, time_zone } }: { readonly schedule: Schedule }) {
  const client = useClient();
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/schedules/times', { query: { cron, time_zone }, signal }),
    [cron, time_zone],
  );
  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  return value ? <NextRuns times={value.times} zone={time_zone} heading="h2" /> : <Skeleton label={t('loading')} rows={5} />;
}

const LOOK_MS = { active: 2_000, idle: 15_000 } as const;

function Runs({ schedule: { id, last_run } }: { readonly schedule: Schedule }) {
  const client = useClient();
  const load = (cursor: string | undefined, signal: AbortSignal, known: string | undefined) =>
    client.getPage('/schedules/{id}/runs', { path: { id }, query: { limit: 20, cursor }, signal }, known);
  const of = [id, last_run?.job_id];
  const list = usePages(load, of);
  const isRunning = list.items?.some(({ ended_at }) => ended_at === null) ?? false;
  useNewest(list, (signal, known) => load(undefined, signal, known), isRunning ? LOOK_MS.active : LOOK_MS.idle, of);
  return (
    <section class="schedules-runs" aria-labelledby="schedules-runs">
      <h2 id="schedules-runs">{t('runs')}</h2>
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && <p>{t('runsNone')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="jobs-list">
            {list.items.map((job) => (
              <JobRow key={job.id} job={job} />
            ))}
          </ul>
        </EndlessList>
      )}
    </section>
  );
}

interface RemoveProps {
  readonly schedule: Schedule;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

function RemoveDialog({ schedule, onClose, onRemoved }: RemoveProps) {
  const client = useClient();
  const [problem, setProblem] = useState<ApiProblem>();
  const remove = async (): Promise<void> => {
    setProblem(undefined);
    try {
      await client.delete('/schedules/{id}', { path: { id: schedule.id }, ifMatch: schedule.etag });
      onRemoved();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Confirm
      title={t('removeTitle', { name: schedule.name })}
      confirmLabel={t('removeDo')}
      cancelLabel={t('cancel')}
      isDanger
      onConfirm={remove}
      onCancel={onClose}
    >
      <p>{t('removeText')}</p>
      {problem && <ProblemNote problem={problem} />}
    </Confirm>
  );
}
