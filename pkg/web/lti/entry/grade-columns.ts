import { useCallback, useEffect, useState } from 'preact/hooks';
import type { CourseApi, Grade, LineItem, NewGrade, Result } from './course-api.ts';
import type { Failed } from './loaded.ts';
import type { Refusal } from './messages.ts';

/** A column of the grade book as the page shows it. */
export interface Column {
  /** The columns of the course; empty if the LMS does not allow reading them. */
  readonly items: readonly LineItem[];
  /** The id of the chosen column; empty: the column of the link, wherever the LMS has it. */
  readonly chosen: string;
  readonly choose: (id: string) => void;
  /** Results in the LMS, by the LMS's own id of the person; undefined: they cannot be read. */
  readonly results: ReadonlyMap<string, Result> | undefined;
  /** The grades sent last, by the same id. */
  readonly given: ReadonlyMap<string, Grade>;
  readonly give: (grade: NewGrade) => Promise<Grade>;
  /** Why part of it cannot be read. */
  readonly refusal: Refusal | undefined;
  readonly refresh: () => void;
}

/** `linkId`: the LMS's own id of the link that was launched. */
export function useColumn({
  api,
  courseId,
  linkId,
  failed,
}: {
  api: CourseApi;
  courseId: string;
  linkId: string | undefined;
  failed: Failed;
}): Column {
  const [items, setItems] = useState<readonly LineItem[]>();
  const [hasResults, setHasResults] = useState(false);
  const [chosen, choose] = useState('');
  const [results, setResults] = useState<ReadonlyMap<string, Result>>();
  const [given, setGiven] = useState<ReadonlyMap<string, Grade>>(new Map());
  const [refusal, setRefusal] = useState<Refusal>();
  const [changes, setChanges] = useState(0);
  const note = useCallback((error: unknown): void => setRefusal(failed(error)), [failed]);

  useEffect(() => {
    const load = async (): Promise<void> => {
      const { services } = await api.context(courseId);
      setHasResults(services.results);
      setItems(services.line_items === null ? [] : await api.lineItems(courseId));
    };
    load().catch((error: unknown) => {
      note(error);
      setItems([]);
    });
  }, [api, courseId, note]);

  useEffect(() => {
    let isCurrent = true;
    const ifCurrent =
      <T>(show: (value: T) => void) =>
      (value: T): void => {
        if (isCurrent) show(value);
      };
    setGiven(new Map());
    // If a person has several grades, the newest comes first in the list, and remains.
    api.given(courseId, chosen || undefined).then(
      ifCurrent((grades) => setGiven(new Map([...grades].reverse().map((grade) => [grade.user_id, grade])))),
      ifCurrent(note),
    );
    return () => {
      isCurrent = false;
    };
  }, [api, courseId, chosen, note]);

  const ofLink = items?.filter(({ resource_link_id: id }) => id === linkId) ?? [];
  const lineItemId = chosen || (ofLink.length === 1 ? ofLink[0]?.id : undefined);
  useEffect(() => {
    setResults(undefined);
  }, [lineItemId]);
  useEffect(() => {
    if (!hasResults || !lineItemId) return;
    let isCurrent = true;
    api.results(courseId, lineItemId).then(
      (list) => isCurrent && setResults(new Map(list.map((result) => [result.user_id, result]))),
      (error: unknown) => isCurrent && note(error),
    );
    return () => {
      isCurrent = false;
    };
  }, [api, courseId, lineItemId, hasResults, changes, note]);

  return {
    items: items ?? [],
    chosen,
    choose,
    results,
    given,
    give: (grade) => (chosen ? api.giveIn(courseId, chosen, grade) : api.give(grade)),
    refusal,
    refresh: () => {
      setRefusal(undefined);
      setChanges((count) => count + 1);
    },
  };
}
