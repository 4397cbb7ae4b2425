import { Api, type Page } from './api.ts';

export interface Member {
  /** The LMS's own id. */
  readonly lms_user_id: string;
  readonly name: string | null;
  readonly status: 'active' | 'inactive';
}

export interface NewGrade {
  /** The LMS's own id of the person. */
  readonly user_id: string;
  readonly score: number;
  readonly score_maximum: number;
}

export interface Grade extends NewGrade {
  readonly id: string;
  readonly status: 'pending' | 'submitted' | 'failed';
  /** Why it failed, or the last attempt did. */
  readonly reason: string | null;
}

export interface Job {
  readonly id: string;
  readonly ended_at: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const PAGE_SIZE = 100;

/** The REST API as the page of a course asks it. Throws ApiError. */
export class CourseApi extends Api {
  /** By name, those who have left included. */
  learners(courseId: string, cursor?: string): Promise<Page<Member>> {
    const query = new URLSearchParams({ role: 'learner', limit: String(PAGE_SIZE), ...(cursor ? { cursor } : {}) });
    return this.json<Page<Member>>('GET', `/lti/contexts/${courseId}/members?${query}`);
  }

  syncMembers = (courseId: string): Promise<Job> => this.json<Job>('POST', `/lti/contexts/${courseId}/members/sync`);

  job = (id: string): Promise<Job> => this.json<Job>('GET', `/jobs/${id}`);

  give = (grade: NewGrade): Promise<Grade> => this.json<Grade>('POST', this.#grades, { body: grade });

  grade = (id: string): Promise<Grade> => this.json<Grade>('GET', `${this.#grades}/${id}`);

  retry = (id: string): Promise<Grade> => this.json<Grade>('POST', `/lti/grades/${id}/retry`);

  get #grades(): string {
    return `/lti/launches/${this.session.launchId}/grades`;
  }
}
