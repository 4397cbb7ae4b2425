import { problemOf } from '../api/problem.ts';
import { toasts } from '../design/toasts.ts';
import { t } from '../text/shell.ts';
import { problemText } from './problem-text.ts';

/**
 * Says in a toast what went wrong and what to do, with the id of the request, if a reply gave one. `reload` loads again what
 * somebody else has changed: a toast has no button for that.
 */
export function failureToast(error: unknown, reload?: () => void): void {
  const problem = problemOf(error);
  const isReloading = reload !== undefined && problem.code === 'precondition_failed';
  const text = isReloading ? t('failure.reloading') : problemText(problem);
  toasts.show({ text, tone: 'danger', requestId: problem.requestId });
  if (isReloading) reload();
}
