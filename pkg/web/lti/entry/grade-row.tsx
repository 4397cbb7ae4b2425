import { useId, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import '../../design/field.css';
import type { CourseApi, Grade, Member, Result } from './course-api.ts';
import type { Column } from './grade-columns.ts';
import type { Failed } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { RefusalNote } from './notes.tsx';
import { COMMENT_MAX, gradeInWords, isCommentTooLong, resultInWords, scoreOf } from './scores.ts';
import { until } from './until.ts';
import { t } from '../../text/lti.ts';

interface Props {
  readonly api: CourseApi;
  readonly member: Member;
  /** undefined: the typed text is not a number of points. */
  readonly maximum: number | undefined;
  readonly column: Column;
  readonly failed: Failed;
}

/** One learner: the score and the comment to send, the state of the last ones, and the result in the LMS. */
export function GradeRow({ api, member, maximum, column, failed }: Props) {
  const [typed, setTyped] = useState('');
  const [comment, setComment] = useState('');
  const [fresh, setGrade] = useState<Grade>();
  const [isSending, setSending] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const faultId = useId();
  const name = member.name ?? member.lms_user_id;
  const score = scoreOf(typed);
  const isNoScore = typed !== '' && score === undefined;
  const isTooLong = isCommentTooLong(comment);
  const shown = fresh ?? column.given.get(member.lms_user_id);

  const follow = async (first: () => Promise<Grade>): Promise<void> => {
    setSending(true);
    setRefusal(undefined);
    try {
      const given = await first();
      setGrade(given);
      const isDone = ({ status }: Grade): boolean => status !== 'pending';
      setGrade(await until(() => api.grade(given), isDone));
      column.refresh();
    } catch (error) {
      setRefusal(failed(error));
    }
    setSending(false);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (score === undefined || maximum === undefined || isTooLong) return;
    const grade = { user_id: member.lms_user_id, score, score_maximum: maximum };
    void follow(() => column.give(comment.trim() === '' ? grade : { ...grade, comment }));
  };

  return (
    <li>
      <span class="name">{name}</span>
      <form onSubmit={submit}>
        <label>
          {t('grades.scoreLabel')}
          <input
            type="text"
            class="c-input"
            inputMode="decimal"
            size={6}
            aria-label={t('grades.score', { name })}
            aria-invalid={isNoScore}
            aria-describedby={isNoScore ? `${faultId}-score` : undefined}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <label class="comment">
          {t('grades.commentLabel')}
          <textarea
            class="c-input"
            rows={1}
            aria-label={t('grades.comment', { name })}
            aria-invalid={isTooLong}
            aria-describedby={isTooLong ? `${faultId}-comment` : undefined}
            value={comment}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </label>
        <Button
          type="submit"
          aria-label={t('grades.sendOf', { name })}
          disabled={isSending || score === undefined || maximum === undefined || isTooLong}
        >
          {t('grades.send')}
        </Button>
        {isNoScore && <Fault id={`${faultId}-score`} text={t('grades.scoreRefused')} />}
        {isTooLong && <Fault id={`${faultId}-comment`} text={t('grades.commentTooLong', { most: COMMENT_MAX })} />}
      </form>
      <p role="status">
        {shown && gradeInWords(shown)}
        {shown?.comment && <q>{shown.comment}</q>}
      </p>
      {column.results && <InLms result={column.results.get(member.lms_user_id)} />}
      {shown?.status === 'failed' && (
        <Button
          size="s"
          aria-label={t('grades.againOf', { name })}
          disabled={isSending}
          onClick={() => void follow(() => api.retry(shown.id))}
        >
          {t('tryAgain')}
        </Button>
      )}
      {refusal && <RefusalNote refusal={refusal} />}
    </li>
  );
}

/** Shows below a field why its value is invalid. */
const Fault = ({ id, text }: { id: string; text: string }) => (
  <p id={id} class="c-field-error" role="alert">
    {text}
  </p>
);

/** The result in the LMS's grade book, no matter who entered it. */
const InLms = ({ result }: { result: Result | undefined }) => (
  <p class="facts in-lms">
    {t('grades.inLms', { points: resultInWords(result) })}
    {result?.comment && <q>{result.comment}</q>}
  </p>
);
