import { count, t } from '../text/uploads.ts';
import type { Summary } from './queue.ts';

const STEP = 25;

/**
 * Says what a screen reader reads out during uploads: the start, each quarter, failures, and the end. Anything more would drown
 * what the person does meanwhile.
 */
export class Announcer {
  #isRunning = false;
  #quarter = 0;
  #failed = 0;
  #isAsking = false;
  /** Uploads of the list that were done before this run. */
  #doneBefore = 0;

  /** Returns what to say after a change; undefined: nothing. */
  next({ count: number, part }: Summary): string | undefined {
    const open = number.waiting + number.preparing + number.sending;
    const quarter = Math.floor((part * 100) / STEP);
    const said: string[] = [];
    if (!this.#isRunning && open > 0) {
      this.#isRunning = true;
      this.#quarter = quarter;
      // What is done is removed when files are added; the first of them may be done by now.
      if (number.done < this.#doneBefore) this.#doneBefore = 0;
      said.push(count('spoken.started', open + number.done - this.#doneBefore));
    }
    if (number.failed > this.#failed) said.push(count('spoken.failed', number.failed));
    this.#failed = number.failed;
    if (number.conflict > 0 && !this.#isAsking) said.push(t('spoken.conflicts'));
    this.#isAsking = number.conflict > 0;
    if (this.#isRunning && open === 0 && number.paused === 0 && number.conflict === 0) {
      this.#isRunning = false;
      const done = number.done - this.#doneBefore;
      this.#doneBefore = number.done;
      if (done > 0) said.push(count('spoken.done', done));
    } else if (quarter > this.#quarter && quarter < 100 / STEP) said.push(t('spoken.part', { percent: quarter * STEP }));
    // Files that are added later lower the part: a quarter is said once.
    this.#quarter = Math.max(this.#quarter, quarter);
    return said.length > 0 ? said.join(' ') : undefined;
  }
}
