import { problemOf } from '../api/problem.ts';
import { toasts } from '../design/toasts.ts';
import { problemText } from './problem-text.ts';

/** Says in a toast what went wrong and what to do, with the id of the request, if a reply gave one. */
export function failureToast(error: unknown): void {
  const problem = problemOf(error);
  toasts.show({ text: problemText(problem), tone: 'danger', requestId: problem.requestId });
}
