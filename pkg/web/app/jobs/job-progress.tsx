import type { Job } from '../../api/operations.generated.ts';
import { Badge } from '../../design/badge.tsx';
import { Progress } from '../../design/progress.tsx';
import { isActive, measureOf, progressInWords, stateOf, titleOf } from './job-in-words.ts';

/** How far a job is that has not ended. */
export function JobProgress({ job }: { readonly job: Job }) {
  if (!isActive(job)) return null;
  const words = progressInWords(job);
  return <Progress label={titleOf(job)} {...(measureOf(job) ?? {})} {...(words === '' ? {} : { valueText: words })} />;
}

export function JobState({ job }: { readonly job: Job }) {
  const { text, tone } = stateOf(job);
  return <Badge tone={tone}>{text}</Badge>;
}
