import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { newId } from '../../api/new-id.ts';
import type { Job } from '../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/badge.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { Icon } from '../../design/icon.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { locale } from '../../text/language.ts';
import { t } from '../../text/jobs.ts';
import { ProblemNote } from '../problem-note.tsx';
import { errorText } from '../problem-text.ts';
import { useClient, useMe } from '../services.ts';
import { useTitle } from '../use-title.ts';
import { Items } from './items.tsx';
import { isActive, progressInWords, titleOf } from './job-in-words.ts';
import { JobProgress, JobState } from './job-progress.tsx';
import { Outcome } from './outcome.tsx';
import { Reasons } from './reasons.tsx';
import { useJob } from './use-job.ts';
import { subjectAddress } from './ways.ts';
import './jobs.css';

/** One job: how far it is, what came of it, and what became of each of its items. */
export function JobPage() {
  const { id = '' } = useRoute().params;
  const { job, problem, retry } = useJob(id);
  useTitle(job ? titleOf(job) : t('title'));
  return (
    <div class="jobs">
      <a class="jobs-back" href="/jobs">
        <Icon name="back" size="s" />
        {t('back')}
      </a>
      {problem && <ProblemNote problem={problem} onRetry={problem.code === 'not_found' ? undefined : retry} />}
      {!job && !problem && <Skeleton label={t('loading')} />}
      {job && <Shown key={job.id} job={job} />}
    </div>
  );
}

function Shown({ job }: { readonly job: Job }) {
  const { route } = useLocation();
  const { user } = useMe();
  const isOwn = job.requested_by?.id === user.id;
  const words = progressInWords(job);
  return (
    <>
      <header class="jobs-head">
        <div class="jobs-name">
          <h1>{titleOf(job)}</h1>
          <JobState job={job} />
        </div>
        {isActive(job) && job.cancelable && <Cancel job={job} />}
      </header>
      <section class="jobs-card" aria-label={t('progress')}>
        <JobProgress job={job} />
        {words !== '' && <p role="status">{words}</p>}
        {job.error && <Notice tone="danger">{errorText(job.error)}</Notice>}
        <Outcome job={job} />
        <Times job={job} />
      </section>
      {isOwn && job.progress.failed > 0 && !isActive(job) && (
        <Reasons job={job} onRetried={(next) => route(`/jobs/${next.id}`)} />
      )}
      {isOwn && job.progress.total > 0 && <Items job={job} />}
      {/* The API shows an administrator neither the items nor what they are about. */}
      {!isOwn && job.requested_by && job.progress.total > 0 && <p class="jobs-quiet">{t('itemsOfAnother')}</p>}
    </>
  );
}

function Cancel({ job }: { readonly job: Job }) {
  const client = useClient();
  const [isAsking, setAsking] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const cancel = async (): Promise<void> => {
    setAsking(false);
    setAsked(true);
    setProblem(undefined);
    try {
      await client.post('/jobs/{id}/cancel', { path: { id: job.id }, idempotencyKey: newId() });
    } catch (error) {
      setProblem(problemOf(error));
      setAsked(false);
    }
  };
  return (
    <div class="jobs-cancel">
      <Button icon="close" isBusy={isAsked} onClick={() => setAsking(true)}>
        {t('cancel')}
      </Button>
      {problem && <ProblemNote problem={problem} />}
      {isAsking && (
        <Confirm
          title={t('cancelTitle')}
          confirmLabel={t('cancel')}
          cancelLabel={t('goOn')}
          isDanger
          onConfirm={cancel}
          onCancel={() => setAsking(false)}
        >
          {t('cancelHint')}
        </Confirm>
      )}
    </div>
  );
}

function Times({ job }: { readonly job: Job }) {
  const { user } = useMe();
  const { subject, requested_by, created_at, started_at, ended_at, retry_of } = job;
  const href = subject ? subjectAddress(job, subject) : undefined;
  return (
    <dl class="jobs-facts">
      {subject && (
        <>
          <dt>{t('subject')}</dt>
          <dd>{href === undefined ? subject.name : <a href={href}>{subject.name}</a>}</dd>
        </>
      )}
      {requested_by && requested_by.id !== user.id && (
        <>
          <dt>{t('requestedBy')}</dt>
          <dd>{requested_by.name}</dd>
        </>
      )}
      <dt>{t('created')}</dt>
      <dd>
        <DateTime value={created_at} isFull />
      </dd>
      {started_at !== null && ended_at !== null && (
        <>
          <dt>{t('took')}</dt>
          <dd>{durationInWords(Date.parse(ended_at) - Date.parse(started_at))}</dd>
        </>
      )}
      {retry_of !== null && (
        <>
          <dt>{t('retryOf')}</dt>
          <dd>
            <a href={`/jobs/${retry_of}`}>{t('retryOfLink')}</a>
          </dd>
        </>
      )}
    </dl>
  );
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** A duration with its two largest units: "2 min 5 sec". */
function durationInWords(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 1);
  const [hours, minutes] = [Math.floor(seconds / HOUR_S), Math.floor((seconds % HOUR_S) / MINUTE_S)];
  const parts: readonly (readonly [number, string])[] = [
    [hours, 'hour'],
    [minutes, 'minute'],
    [seconds % MINUTE_S, 'second'],
  ];
  return parts
    .filter(([value]) => value > 0)
    .slice(0, 2)
    .map(([value, unit]) => new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short' }).format(value))
    .join(' ');
}
