import { useCallback, useState } from 'preact/hooks';
import { ApiError } from './api.ts';
import type { CourseApi, Grade, Member } from './course-api.ts';
import { type Failed, usePages } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { RefusalNote } from './notes.tsx';
import { gradeInWords, scoreOf } from './scores.ts';
import { until } from './until.ts';

const USUAL_MAXIMUM = '100';
const READING = 'Reading the list …';

/** The learners of the course as the LMS lists them, with a score field each. What is sent goes to the column of this link in the LMS. */
export function Grades({ api, courseId, failed }: { api: CourseApi; courseId: string; failed: Failed }) {
  /** Grows with every list that was read from the LMS, so that ours is fetched again. */
  const [synced, setSynced] = useState(0);
  const [maximum, setMaximum] = useState(USUAL_MAXIMUM);
  const ask = useCallback((cursor?: string) => api.learners(courseId, cursor), [api, courseId]);
  const { items, isMore, isBusy, refusal, next } = usePages(ask, failed, synced);
  const members = items?.filter(({ status }) => status === 'active');
  const points = scoreOf(maximum) || undefined;

  return (
    <section aria-labelledby="grades-heading" class="grades">
      <h2 id="grades-heading">Grades</h2>
      <RosterUpdate api={api} courseId={courseId} failed={failed} onUpdated={() => setSynced((count) => count + 1)} />
      <p role="status">{statusOf(members, isMore, isBusy)}</p>
      {members && members.length > 0 && (
        <>
          <label for="score-maximum">
            Points for full marks{' '}
            <input
              id="score-maximum"
              type="text"
              inputMode="decimal"
              size={6}
              aria-invalid={points === undefined}
              value={maximum}
              onInput={(event) => setMaximum(event.currentTarget.value)}
            />
          </label>
          <ul aria-label="Learners">
            {members.map((member) => (
              <MemberRow key={member.lms_user_id} api={api} member={member} maximum={points} failed={failed} />
            ))}
          </ul>
        </>
      )}
      {refusal && <RefusalNote refusal={refusal} onRetry={next} />}
      {isMore && !refusal && (
        <button type="button" disabled={isBusy} onClick={next}>
          Show more learners
        </button>
      )}
    </section>
  );
}

function statusOf(members: readonly Member[] | undefined, isMore: boolean, isBusy: boolean): string {
  if (!members) return isBusy ? 'Loading …' : '';
  if (members.length === 0 && !isMore) return 'There are no learners here yet.';
  return `${members.length} ${members.length === 1 ? 'learner' : 'learners'} shown${isMore ? '; there are more' : ''}`;
}

/** Reads who is in the course from the LMS, by a job. */
function RosterUpdate(props: { api: CourseApi; courseId: string; failed: Failed; onUpdated: () => void }) {
  const { api, courseId, failed, onUpdated } = props;
  const [state, setState] = useState('');
  const [refusal, setRefusal] = useState<Refusal>();

  const sync = async (): Promise<void> => {
    setRefusal(undefined);
    setState(READING);
    try {
      const { id } = await api.syncMembers(courseId);
      const { error, ended_at } = await until(
        () => api.job(id),
        (job) => job.ended_at !== null,
      );
      if (error) throw new ApiError({ ...error, retryAfter: undefined });
      setState(ended_at === null ? 'Your LMS takes its time. Look again in a while.' : 'The list is as your LMS has it.');
      onUpdated();
    } catch (error) {
      setState('');
      setRefusal(failed(error));
    }
  };

  return (
    <>
      <p>
        <button type="button" disabled={state === READING} onClick={() => void sync()}>
          Read the list from your LMS
        </button>{' '}
        <span role="status">{state}</span>
      </p>
      {refusal && <RefusalNote refusal={refusal} />}
    </>
  );
}

interface RowProps {
  readonly api: CourseApi;
  readonly member: Member;
  /** undefined: what is typed is no number of points. */
  readonly maximum: number | undefined;
  readonly failed: Failed;
}

function MemberRow({ api, member, maximum, failed }: RowProps) {
  const [typed, setTyped] = useState('');
  const [grade, setGrade] = useState<Grade>();
  const [isSending, setSending] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const name = member.name ?? member.lms_user_id;
  const score = scoreOf(typed);

  const follow = async (first: () => Promise<Grade>): Promise<void> => {
    setSending(true);
    setRefusal(undefined);
    try {
      const given = await first();
      setGrade(given);
      const isDone = ({ status }: Grade): boolean => status !== 'pending';
      setGrade(await until(() => api.grade(given.id), isDone));
    } catch (error) {
      setRefusal(failed(error));
    }
    setSending(false);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (score === undefined || maximum === undefined) return;
    void follow(() => api.give({ user_id: member.lms_user_id, score, score_maximum: maximum }));
  };

  return (
    <li>
      <span class="name">{name}</span>
      <form onSubmit={submit}>
        <input
          type="text"
          inputMode="decimal"
          size={6}
          aria-label={`Score of ${name}`}
          aria-invalid={typed !== '' && score === undefined}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" aria-label={`Send the score of ${name}`} disabled={isSending || score === undefined || maximum === undefined}>
          Send
        </button>
      </form>
      <p role="status">{grade && gradeInWords(grade)}</p>
      {grade?.status === 'failed' && (
        <button
          type="button"
          aria-label={`Send the score of ${name} again`}
          disabled={isSending}
          onClick={() => void follow(() => api.retry(grade.id))}
        >
          Try again
        </button>
      )}
      {refusal && <RefusalNote refusal={refusal} />}
    </li>
  );
}
