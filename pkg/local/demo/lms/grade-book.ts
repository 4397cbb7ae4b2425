import { systemRandom } from '../../../runtime/random.ts';
import { type Launch, lineItemsUrl } from './claims.ts';

/** The properties of a line item that a tool may set (AGS 2.0 §3.2.5–3.2.14); extensions have addresses as names. */
export interface LineItemDefinition {
  readonly label: string;
  readonly scoreMaximum: number;
  readonly resourceLinkId?: string;
  readonly resourceId?: string;
  readonly tag?: string;
  readonly startDateTime: string | null;
  readonly endDateTime: string | null;
  readonly gradesReleased?: boolean;
  readonly [extension: string]: unknown;
}

/** A column of the grade book. */
export interface LineItem {
  /** Its address. */
  readonly id: string;
  readonly courseId: string;
  /** The tools (client ids) that may see it; for others it does not exist. */
  readonly tools: Set<string>;
  definition: LineItemDefinition;
}

export interface Score {
  readonly timestamp: string;
  readonly userId: string;
  /** Missing if the score was removed (AGS 2.0 §3.4.4). */
  readonly scoreGiven?: number;
  readonly scoreMaximum?: number;
  readonly comment?: string;
}

/** A cell that has a score, as the tool sent it. */
export interface Graded extends Score {
  readonly lineItem: string;
  readonly scoreGiven: number;
  readonly scoreMaximum: number;
  /** The number of scores entered here. */
  readonly times: number;
}

type Cell = Score & { readonly lineItem: string; readonly times: number };

/** A cell as a result (AGS 2.0 §3.3.4), scaled to the maximum of its line item. */
export interface Result {
  readonly id: string;
  readonly scoreOf: string;
  readonly userId: string;
  readonly resultScore: number;
  readonly resultMaximum: number;
  readonly comment?: string;
}

const DEFAULT_MAXIMUM = 100;

/**
 * Line items and scores of all courses. A score whose timestamp, in whole seconds, is not newer than its cell's is not entered,
 * as in Moodle.
 */
export class GradeBook {
  readonly #issuer: string;
  readonly #items = new Map<string, LineItem>();
  readonly #removed = new Set<string>();
  readonly #cells = new Map<string, Cell>();

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  get graded(): Graded[] {
    return [...this.#cells.values()].filter(hasScore);
  }

  /**
   * Returns the line item that a launch names: the only one of its link, created at the first launch. Returns undefined if there
   * are several or none.
   */
  lineItemOf({ course, resourceLinkId }: Launch, clientId: string): string | undefined {
    if (course === null) return undefined;
    const attached = this.itemsOf(course.id, clientId).filter(({ definition }) => definition.resourceLinkId === resourceLinkId);
    if (attached.length > 0) return attached.length === 1 ? attached[0]?.id : undefined;
    const own = `${lineItemsUrl(this.#issuer, course.id)}/${encodeURIComponent(resourceLinkId)}`;
    return this.#removed.has(own) ? undefined : own;
  }

  /** Creates a line item of the launch's link at this address, if none exists. Ignores addresses elsewhere. */
  offer(address: unknown, { course, resourceLinkId, linkTitle = 'Files' }: Launch, clientId: string): void {
    if (course === null || typeof address !== 'string' || !address.startsWith(`${this.#issuer}/`)) return;
    const definition = {
      label: linkTitle,
      scoreMaximum: DEFAULT_MAXIMUM,
      resourceLinkId,
      startDateTime: null,
      endDateTime: null,
    };
    const item = this.#items.get(address) ?? { id: address, courseId: course.id, tools: new Set(), definition };
    item.tools.add(clientId);
    this.#items.set(address, item);
  }

  item(address: string, clientId: string): LineItem | undefined {
    const item = this.#items.get(address);
    return item?.tools.has(clientId) ? item : undefined;
  }

  itemsOf(courseId: string, clientId: string): LineItem[] {
    return [...this.#items.values()].filter((item) => item.courseId === courseId && item.tools.has(clientId));
  }

  add(courseId: string, clientId: string, definition: LineItemDefinition): LineItem {
    const id = `${lineItemsUrl(this.#issuer, courseId)}/${systemRandom.hex(8)}`;
    const item = { id, courseId, tools: new Set([clientId]), definition };
    this.#items.set(id, item);
    return item;
  }

  /** Removes a line item with its scores. */
  remove({ id }: LineItem): void {
    this.#items.delete(id);
    this.#removed.add(id);
    for (const [key, { lineItem }] of this.#cells) if (lineItem === id) this.#cells.delete(key);
  }

  /** Enters a score. Returns false if it is not newer. */
  enter({ id }: LineItem, score: Score): boolean {
    const key = `${id} ${score.userId}`;
    const former = this.#cells.get(key);
    if (former && secondOf(score) <= secondOf(former)) return false;
    this.#cells.set(key, { ...score, lineItem: id, times: (former?.times ?? 0) + 1 });
    return true;
  }

  /** Simulates a change of the person's scores in the LMS, which gives them this time. */
  touch(userId: string, at: Date): void {
    for (const [key, cell] of this.#cells)
      if (cell.userId === userId) this.#cells.set(key, { ...cell, timestamp: at.toISOString() });
  }

  resultsOf(item: LineItem): Result[] {
    const { scoreMaximum: resultMaximum } = item.definition;
    return this.graded
      .filter(({ lineItem }) => lineItem === item.id)
      .map(({ userId, scoreGiven, scoreMaximum, comment }) => ({
        id: resultAddress(item, userId),
        scoreOf: item.id,
        userId,
        resultScore: (scoreGiven / scoreMaximum) * resultMaximum,
        resultMaximum,
        ...(comment === undefined ? {} : { comment }),
      }));
  }
}

const secondOf = ({ timestamp }: Score): number => Math.floor(Date.parse(timestamp) / 1000);

/** Adds `part` to the end of a line item's path, before its query (AGS 2.0 §3.3.1, §3.4.1). */
export function below(lineItem: string, part: string): URL {
  const url = new URL(lineItem);
  url.pathname += part;
  return url;
}

export const resultAddress = ({ id }: LineItem, userId: string): string =>
  below(id, `/results/${encodeURIComponent(userId)}`).href;

const hasScore = (cell: Cell): cell is Graded => cell.scoreGiven !== undefined && cell.scoreMaximum !== undefined;
