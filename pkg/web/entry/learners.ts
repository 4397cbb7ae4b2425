import { useCallback, useRef, useState } from 'preact/hooks';
import { ApiError, type Page } from './api.ts';
import type { CourseApi, Member } from './course-api.ts';
import { type Failed, type Listed, usePages } from './loaded.ts';

interface Asked {
  readonly api: CourseApi;
  readonly courseId: string;
  /** The LMS's own id of a link that may be for some of the course alone; left out: for the course. */
  readonly linkId: string | undefined;
  readonly failed: Failed;
  /** A change of it fetches the list again. */
  readonly changes: number;
}

/**
 * The learners to grade: those whom the LMS lets open the link, or those of the course. An LMS that does not say whom a link is
 * for, or does not answer, leaves those of the course: `isOfAll` says so.
 */
export function useLearners({ api, courseId, linkId, failed, changes }: Asked): { list: Listed<Member>; isOfAll: boolean } {
  const [isOfAll, setOfAll] = useState(false);
  /** For the later pages of a list: whose its first one was. */
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
