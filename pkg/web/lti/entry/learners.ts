import { useCallback, useRef, useState } from 'preact/hooks';
import { ApiError, type Page } from './api.ts';
import type { CourseApi, Member } from './course-api.ts';
import { type Failed, type Listed, usePages } from './loaded.ts';

interface Asked {
  readonly api: CourseApi;
  readonly courseId: string;
  /** The LMS's own id of a link that may be only for some of the course; undefined: all learners of the course. */
  readonly linkId: string | undefined;
  readonly failed: Failed;
  /** A change of this value fetches the list again. */
  readonly changes: number;
}

/**
 * Returns the learners to grade: those who may open the link according to the LMS, or those of the course. If the LMS does not
 * say whom a link is for, or does not answer, returns those of the course with `isOfAll`.
 */
export function useLearners({ api, courseId, linkId, failed, changes }: Asked): { list: Listed<Member>; isOfAll: boolean } {
  const [isOfAll, setOfAll] = useState(false);
  /** Whether the list's first page was the link's; for its later pages. */
  const isOfLink = useRef(false);
  const ask = useCallback(
    async (cursor?: string): Promise<Page<Member>> => {
      if (cursor === undefined) isOfLink.current = linkId !== undefined;
      if (linkId === undefined || !isOfLink.current) return api.learners(courseId, cursor);
      try {
        const page = await api.learnersOfLink(courseId, linkId, cursor);
        setOfAll(false);
        return page;
      } catch (error) {
        if (cursor !== undefined || !isOfLms(error)) throw error;
        isOfLink.current = false;
        setOfAll(true);
        return api.learners(courseId);
      }
    },
    [api, courseId, linkId],
  );
  return { list: usePages(ask, failed, changes), isOfAll: isOfAll && linkId !== undefined };
}

const isOfLms = (error: unknown): boolean => error instanceof ApiError && error.code.startsWith('lms_');
