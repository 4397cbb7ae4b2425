import type { Job } from '../../api/operations.generated.ts';
import { Icon } from '../../design/icon.tsx';
import { DateTime } from '../../design/measures.tsx';
import { iconOf, outcomeInWords, progressInWords, titleOf } from './job-in-words.ts';
import { JobProgress, JobState } from './job-progress.tsx';
import './jobs.css';

/** A job in a list, which is a `ul` with the class `jobs-list`. */
export function JobRow({ job }: { readonly job: Job }) {
  const words = progressInWords(job) || outcomeInWords(job);
  return (
    <li class="jobs-row">
      <span class="jobs-icon">
        <Icon name={iconOf(job)} />
      </span>
      <div class="jobs-what">
        <a class="jobs-title" href={`/jobs/${job.id}`}>
          {titleOf(job)}
        </a>
        <p class="jobs-quiet">
          <DateTime value={job.created_at} />
          {words !== '' && ` · ${words}`}
        </p>
        <JobProgress job={job} />
      </div>
      <JobState job={job} />
    </li>
  );
}
