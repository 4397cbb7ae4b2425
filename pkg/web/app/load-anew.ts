import { isAnswering } from '../api/ping.ts';
import { unreachable } from '../api/problem.ts';
import { failureToast } from './failure-toast.ts';

/** Loads the document anew; while no server answers it stays, because the browser would show a page of its own instead. */
export async function loadAnew(): Promise<void> {
  if (await isAnswering()) location.reload();
  else failureToast(unreachable());
}
