import { useState } from 'preact/hooks';
import { newId } from '../../api/new-id.ts';
import type { Grade, LtiContext } from '../../api/operations.generated.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Select } from '../../design/select.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { toasts } from '../../design/toasts.ts';
import { t } from '../../text/courses.ts';
import { inDigits } from '../../text/language.ts';
import { reasonInWords } from '../../text/reasons.ts';
import { failureToast } from '../failure-toast.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient } from '../services.ts';
import { useNewest } from '../use-newest.ts';
import { usePages } from '../use-pages.ts';
import { useNames } from './use-names.ts';

type Status = Grade['status'];
const STATES: readonly Status[] = ['pending', 'submitted', 'failed'];
const TONES: Readonly<Record<Status, Tone>> = { pending: 'accent', submitted: 'success', failed: 'danger' };
const LOOK_MS = { active: 3_000, idle: 15_000 } as const;

/** The grades that were given here for people of a course, and whether the LMS has them. */
export function Grades({ course }: { readonly course: LtiContext }) {
  const client = useClient();
  const [status, setStatus] = useState<Status | ''>('');
  const load = (cursor: string | undefined, signal: AbortSignal, known: string | undefined) => {
    const query = { limit: 50, sort: '-timestamp', cursor, context_id: course.id, status: status || undefined };
    return client.getPage('/lti/grades', { query, signal }, known);
  };
  const of = [course.id, status];
  const list = usePages(load, of);
  const isOnItsWay = list.items?.some((grade) => grade.status === 'pending') ?? false;
  const ms = isOnItsWay ? LOOK_MS.active : LOOK_MS.idle;
  const look = useNewest(list, (signal, known) => load(undefined, signal, known), ms, of);
  const names = useNames(course.id);
  const retry = async (id: string): Promise<void> => {
    try {
      await client.post('/lti/grades/{id}/retry', { path: { id }, idempotencyKey: newId() });
      toasts.show({ text: t('retried') });
      look();
    } catch (error) {
      failureToast(error);
    }
  };
  return (
    <div class="courses-section">
      <div class="courses-tools">
        <p class="courses-quiet">{t('gradesText')}</p>
        <Select
          label={t('state')}
          isLabelHidden
          value={status}
          onValue={setStatus}
          options={[{ value: '', label: t('state.all') }, ...STATES.map((value) => ({ value, label: t(`state.${value}`) }))]}
        />
      </div>
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && <p role="status">{t('gradesNone')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <div class="courses-scroll" role="region" aria-label={t('tab.grades')} tabIndex={0}>
            <table class="courses-table" aria-label={t('tab.grades')}>
              <thead>
                <tr>
                  <th scope="col">{t('person')}</th>
                  <th scope="col">{t('score')}</th>
                  <th scope="col">{t('state')}</th>
                  <th scope="col">{t('time')}</th>
                  <th scope="col">
                    <span class="c-hidden">{t('actions')}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list.items.map((grade) => (
                  <Row
                    key={grade.id}
                    grade={grade}
                    name={names?.get(grade.user_id) ?? grade.user_id}
                    onRetry={() => void retry(grade.id)}
                  />
                ))}
              </tbody>
            </table>
          </div>
        </EndlessList>
      )}
    </div>
  );
}

function Row({ grade, name, onRetry }: { readonly grade: Grade; readonly name: string; readonly onRetry: () => void }) {
  const { score, score_maximum, status, reason, comment, timestamp } = grade;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td data-label={t('score')}>
        {inDigits(score)} {t('maximum', { maximum: score_maximum })}
        {comment !== null && comment !== '' && <div class="courses-quiet">{comment}</div>}
      </td>
      <td>
        <Badge tone={TONES[status]}>{t(`state.${status}`)}</Badge>
        {reason !== null && <div class="courses-quiet">{reasonInWords(reason)}</div>}
      </td>
      <td data-label={t('time')}>
        <DateTime value={timestamp} />
      </td>
      <td>
        {(status === 'failed' || (status === 'pending' && reason !== null)) && (
          <Button size="s" icon="refresh" aria-label={t('retryOf', { name })} onClick={onRetry}>
            {t('retry')}
          </Button>
        )}
      </td>
    </tr>
  );
}
