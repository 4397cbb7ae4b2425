import { useId } from 'preact/hooks';
import type { Job } from '../../api/operations.generated.ts';
import { Icon } from '../../design/icon.tsx';
import { DateTime } from '../../design/measures.tsx';
import { t } from '../../text/jobs.ts';
import { iconOf, isActive, progressInWords, titleOf } from './job-in-words.ts';
import { outcomeInWords } from './outcome-in-words.ts';
import { JobProgress, JobState } from './job-progress.tsx';
import { wayOf } from './ways.ts';
import './jobs.css';

interface Props {
  readonly job: Job;
  /** The list has jobs of several people, so that it says whose each is. */
  readonly isOfEverybody?: boolean;
}

/** A job in a list, which is a `ul` with the class `jobs-list`. */
export function JobRow({ job, isOfEverybody = false }: Props) {
  const words = progressInWords(job) || outcomeInWords(job);
  const way = isActive(job) ? undefined : wayOf(job);
  const title = useId();
  return (
    <li class="jobs-row">
      <span class="jobs-icon">
        <Icon name={iconOf(job)} />
      </span>
      <div class="jobs-what">
        <a id={title} class="jobs-title" href={`/jobs/${job.id}`}>
          {titleOf(job)}
        </a>
        <p class="jobs-quiet">
          <DateTime value={job.created_at} />
          {isOfEverybody && job.requested_by && ` · ${t('by', { name: job.requested_by.name })}`}
          {words !== '' && ` · ${words}`}
          {way && (
            <>
              {' · '}
              <a class="jobs-result" href={way.href} aria-describedby={title} {...(way.isDownload ? { download: '' } : {})}>
                {way.label}
              </a>
            </>
          )}
        </p>
        <JobProgress job={job} />
      </div>
      <JobState job={job} />
    </li>
  );
}
