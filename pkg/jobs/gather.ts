/** In one call at most. */
const MOST = 200;

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly answer: PromiseWithResolvers<Answer>;
}

/**
 * Makes one call of many: what is asked for in the same turn goes together, and what is asked while a call is under way goes with the next.
 * So a busy worker makes few large calls, and an idle one does not wait.
 */
export class Gather<Ask, Answer> {
  readonly #answerAll: (asks: readonly Ask[]) => Promise<readonly Answer[]>;
  #waiting: Waiting<Ask, Answer>[] = [];
  #isUnderWay = false;

  /** `answerAll` gives an answer for each of its questions, in their order. When it throws, it throws to all of them. */
  constructor(answerAll: (asks: readonly Ask[]) => Promise<readonly Answer[]>) {
    this.#answerAll = answerAll;
  }

  ask(ask: Ask): Promise<Answer> {
    const answer = Promise.withResolvers<Answer>();
    this.#waiting.push({ ask, answer });
    if (!this.#isUnderWay) {
      this.#isUnderWay = true;
      setImmediate(() => void this.#work());
    }
    return answer.promise;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, MOST);
      try {
        const answers = await this.#answerAll(some.map(({ ask }) => ask));
        some.forEach(({ answer }, at) => answer.resolve(answers[at] as Answer));
      } catch (error) {
        for (const { answer } of some) answer.reject(error);
      }
    }
    this.#isUnderWay = false;
  }
}
