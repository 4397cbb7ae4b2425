import { useState } from 'preact/hooks';
import { Select } from '../../design/select.tsx';
import type { CourseApi, Member } from './course-api.ts';
import { type Column, useColumn } from './grade-columns.ts';
import { GradeRow } from './grade-row.tsx';
import { useLearners } from './learners.ts';
import type { Failed } from './loaded.ts';
import { RefusalNote } from './notes.tsx';
import { More } from './paged-list.tsx';
import { RosterUpdate } from './roster-update.tsx';
import { scoreOf } from './scores.ts';
import { count, t } from '../../text/lti.ts';

const USUAL_MAXIMUM = '100';

interface Props {
  readonly api: CourseApi;
  readonly courseId: string;
  /** The LMS's own id of the link that was launched. */
  readonly linkId: string | undefined;
  /** Whether the link was placed for a file: the LMS may have assigned it only to some of the course. */
  readonly isPlaced: boolean;
  readonly failed: Failed;
}

/**
 * The learners of the course, or of a placed link, as the LMS lists them. Each has fields for the score and a comment, beside the
 * result in the LMS. Grades go to the chosen column there.
 */
export function Grades({ api, courseId, linkId, isPlaced, failed }: Props) {
  /** Grows with every list that was read from the LMS, so that our list is fetched again. */
  const [synced, setSynced] = useState(0);
  const [maximum, setMaximum] = useState(USUAL_MAXIMUM);
  const column = useColumn({ api, courseId, linkId, failed });
  const ofLink = isPlaced && column.chosen === '' ? linkId : undefined;
  const { list, isOfAll } = useLearners({ api, courseId, linkId: ofLink, failed, changes: synced });
  const { items, isMore, isBusy } = list;
  const members = items?.filter(({ status }) => status === 'active');
  const points = scoreOf(maximum) || undefined;
  const choose = (id: string): void => {
    column.choose(id);
    const most = column.items.find((item) => item.id === id)?.score_maximum;
    if (most) setMaximum(String(most));
  };

  return (
    <section aria-labelledby="grades-heading" class="grades">
      <h2 id="grades-heading">{t('grades.heading')}</h2>
      <RosterUpdate api={api} courseId={courseId} failed={failed} onUpdated={() => setSynced((count) => count + 1)} />
      <p role="status">{statusOf(members, isMore, isBusy)}</p>
      {isOfAll && <p class="facts">{t('grades.ofAll')}</p>}
      {members && members.length > 0 && (
        <>
          {column.items.length > 0 && <ColumnChoice column={column} onChoose={choose} />}
          <label for="score-maximum">
            {t('grades.maximum')}{' '}
            <input
              id="score-maximum"
              type="text"
              class="c-input"
              inputMode="decimal"
              size={6}
              aria-invalid={points === undefined}
              value={maximum}
              onInput={(event) => setMaximum(event.currentTarget.value)}
            />
          </label>
          <ul aria-label={t('grades.learners')}>
            {members.map((member) => (
              <GradeRow
                key={`${column.chosen} ${member.lms_user_id}`}
                api={api}
                member={member}
                maximum={points}
                column={column}
                failed={failed}
              />
            ))}
          </ul>
        </>
      )}
      {column.refusal && <RefusalNote refusal={column.refusal} onRetry={column.refresh} />}
      <More list={list} text={t('grades.more')} />
    </section>
  );
}

function statusOf(members: readonly Member[] | undefined, isMore: boolean, isBusy: boolean): string {
  if (!members) return isBusy ? t('loading') : '';
  if (members.length === 0 && !isMore) return t('grades.noLearners');
  return t(isMore ? 'shownThereAreMore' : 'shown', { what: count('learners', members.length) });
}

const ColumnChoice = ({ column, onChoose }: { column: Column; onChoose: (id: string) => void }) => (
  <Select
    label={t('grades.column')}
    value={column.chosen}
    onValue={onChoose}
    options={[{ value: '', label: t('grades.ofLink') }, ...column.items.map(({ id, label }) => ({ value: id, label }))]}
  />
);
