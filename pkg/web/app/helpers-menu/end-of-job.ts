import type { Job } from '../../api/operations.generated.ts';
import type { NewToast } from '../../design/toasts.ts';
import { count, t } from '../../text/helpers.ts';
import { errorText } from '../problem-text.ts';
import { sizeInWords } from '../size-in-words.ts';

/** How a job for a file has ended, in a sentence. */
export function endOf(job: Job, name: string): Pick<NewToast, 'text' | 'tone'> {
  if (job.state === 'canceled') return { text: t('canceled', { name }) };
  if (job.error) return { text: t('failed', { name, reason: errorText(job.error) }), tone: 'danger' };
  if (job.progress.failed > 0) return { text: count('partly', job.progress.failed, { name }), tone: 'danger' };
  return { text: successOf(job, name), tone: 'success' };
}

function successOf(job: Job, name: string): string {
  if (job.kind === 'import') return count('done.import', job.result.files, { name });
  if (job.kind !== 'optimize' || !job.result) return t('done.translate', { name });
  const { kept, size_before, size_after } = job.result;
  if (!kept) return t('done.optimizeNot', { name });
  return t('done.optimize', { name, before: sizeInWords(size_before), after: sizeInWords(size_after) });
}
