import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { ApiError } from './api.ts';
import type { CourseApi } from './course-api.ts';
import type { Failed } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { RefusalNote } from './notes.tsx';
import { until } from './until.ts';
import { t } from '../../text/lti.ts';

/** Imports the people of the course from the LMS, with a job. */
export function RosterUpdate(props: { api: CourseApi; courseId: string; failed: Failed; onUpdated: () => void }) {
  const { api, courseId, failed, onUpdated } = props;
  const [state, setState] = useState('');
  const [refusal, setRefusal] = useState<Refusal>();

  const sync = async (): Promise<void> => {
    setRefusal(undefined);
    setState(t('roster.reading'));
    try {
      const { id } = await api.syncMembers(courseId);
      const { error, ended_at } = await until(
        () => api.job(id),
        (job) => job.ended_at !== null,
      );
      if (error) throw new ApiError({ ...error, retryAfter: undefined });
      setState(ended_at === null ? t('roster.slow') : t('roster.done'));
      onUpdated();
    } catch (error) {
      setState('');
      setRefusal(failed(error));
    }
  };

  return (
    <>
      <p>
        <Button icon="refresh" disabled={state === t('roster.reading')} onClick={() => void sync()}>
          {t('roster.read')}
        </Button>{' '}
        <span role="status">{state}</span>
      </p>
      {refusal && <RefusalNote refusal={refusal} />}
    </>
  );
}
