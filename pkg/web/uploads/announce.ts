import { count, t } from '../text/uploads.ts';
import { holdInWords } from './in-words.ts';
import type { Hold, Summary } from './queue.ts';
import type { Reload } from './uploader.ts';

const STEP = 25;
const NO_RELOAD: Omit<Reload, 'restoring'> = { continued: 0, changed: [], isKept: true };

/**
 * Says what a screen reader reads out during uploads: the start, each quarter, the first failure, what the person has to decide,
 * and the end with all failures; after a reload the first file that has changed, and once that the browser keeps nothing.
 * Anything more would drown what the person does meanwhile.
 */
export class Announcer {
  readonly #holdText: (hold: Hold) => string;
  #isRunning = false;
  #quarter = 0;
  #failed = 0;
  #isAsking = false;
  #isInterrupted = false;
  #isStopped = false;
  #continued = 0;
  #isChanged = false;
  #isKept = true;
  /** Uploads of the list that were done before this run. */
  #doneBefore = 0;

  constructor(holdText = holdInWords) {
    this.#holdText = holdText;
  }

  /** Returns what to say after a change; undefined: nothing. `isSearching`: more files are found, so nobody knows how many. */
  next({ count: number, part, hold }: Summary, isSearching = false, reload = NO_RELOAD): string | undefined {
    const open = number.waiting + number.preparing + number.sending;
    const quarter = Math.floor((part * 100) / STEP);
    const said: string[] = [];
    const isStopped = hold?.reason === 'stopped' && open > 0;
    if (isStopped && !this.#isStopped) said.push(this.#holdText(hold));
    this.#isStopped = isStopped;
    if (!this.#isRunning && open > 0 && !isStopped && !isSearching) {
      this.#isRunning = true;
      this.#quarter = quarter;
      // What is done is removed when files are added; the first of them may be done by now.
      if (number.done < this.#doneBefore) this.#doneBefore = 0;
      const isContinued = reload.continued > this.#continued;
      said.push(count(isContinued ? 'spoken.continued' : 'spoken.started', open + number.done - this.#doneBefore));
    }
    this.#continued = reload.continued;
    if (!reload.isKept && this.#isKept && open > 0) {
      this.#isKept = false;
      said.push(t('notKept'));
    }
    const { length: changed } = reload.changed;
    if (changed > 0 && !this.#isChanged) said.push(count('spoken.changed', changed));
    this.#isChanged = changed > 0;
    const isFirstFailure = number.failed > 0 && this.#failed === 0;
    if (isFirstFailure) said.push(count('spoken.failed', number.failed));
    if (number.conflict > 0 && !this.#isAsking) said.push(t('spoken.conflicts'));
    this.#isAsking = number.conflict > 0;
    if (number.interrupted > 0 && !this.#isInterrupted) said.push(count('interrupted', number.interrupted));
    this.#isInterrupted = number.interrupted > 0;
    if (this.#isRunning && open === 0 && number.paused === 0 && number.conflict === 0) {
      this.#isRunning = false;
      const done = number.done - this.#doneBefore;
      this.#doneBefore = number.done;
      if (done > 0) said.push(count('spoken.done', done));
      if (number.failed > 0 && !isFirstFailure) said.push(count('spoken.failed', number.failed));
    } else if (said.length === 0 && quarter > this.#quarter && quarter < 100 / STEP)
      said.push(t('spoken.part', { percent: quarter * STEP }));
    this.#failed = number.failed;
    // Files that are added later lower the part: a quarter is said once.
    this.#quarter = Math.max(this.#quarter, quarter);
    return said.length > 0 ? said.join(' ') : undefined;
  }
}
