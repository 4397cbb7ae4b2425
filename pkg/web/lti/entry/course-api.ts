import { Api, ApiError, type Entry, type FileItem, type HandIn, type Page } from './api.ts';

export interface Member {
  /** The LMS's own id. */
  readonly lms_user_id: string;
  readonly name: string | null;
  readonly status: 'active' | 'inactive';
}

interface Scored {
  /** The LMS's own id of the person. */
  readonly user_id: string;
  readonly score: number;
  readonly score_maximum: number;
}

export interface NewGrade extends Scored {
  /** Shown to the person in the LMS. */
  readonly comment?: string;
}

/** A column of the LMS's grade book. */
export interface LineItem {
  readonly id: string;
  readonly label: string;
  readonly score_maximum: number | null;
  readonly resource_link_id: string | null;
}

/** A person's result in the LMS's grade book, no matter who entered it. */
export interface Result {
  /** The LMS's own id of the person. */
  readonly user_id: string;
  readonly result_score: number | null;
  readonly result_maximum: number;
  readonly comment: string | null;
}

export interface Grade extends Scored {
  readonly id: string;
  readonly comment: string | null;
  /** The column; null: the column of the launch. */
  readonly line_item_id: string | null;
  readonly status: 'pending' | 'submitted' | 'failed';
  /** Why the grade, or its last attempt, failed. */
  readonly reason: string | null;
}

export interface Context {
  readonly group_id: string;
  readonly services: { readonly line_items: string | null; readonly results: boolean };
}

interface Grant {
  readonly id: string;
}

/** A file or folder of the person's own, with the grant that the course has on it. */
export type Shareable = Entry & { readonly grant: Grant | null };

export interface Job {
  readonly id: string;
  readonly ended_at: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const PAGE_SIZE = 100;
const LONGEST_PAGE = '200';
/** Page size for the person's own files that can be handed in, newest first. */
const OWN_PAGE_SIZE = '50';

/** The REST API for the page of a course. Throws ApiError. */
export class CourseApi extends Api {
  /** Lists the learners by name, including those who have left. */
  learners(courseId: string, cursor?: string): Promise<Page<Member>> {
    const query = new URLSearchParams({ role: 'learner', limit: String(PAGE_SIZE), ...(cursor ? { cursor } : {}) });
    return this.json<Page<Member>>('GET', `/lti/contexts/${courseId}/members?${query}`);
  }

  /** Lists the learners who may currently open one link, according to the LMS. `linkId`: the LMS's own id. */
  learnersOfLink(courseId: string, linkId: string, cursor?: string): Promise<Page<Member>> {
    const of = { resource_link_id: linkId, role: 'learner', limit: String(PAGE_SIZE) };
    return this.json<Page<Member>>(
      'GET',
      `/lti/contexts/${courseId}/link-members?${new URLSearchParams({ ...of, ...(cursor ? { cursor } : {}) })}`,
    );
  }

  syncMembers = (courseId: string): Promise<Job> => this.json<Job>('POST', `/lti/contexts/${courseId}/members/sync`);

  job = (id: string): Promise<Job> => this.json<Job>('GET', `/jobs/${id}`);

  context = (courseId: string): Promise<Context> => this.json<Context>('GET', `/lti/contexts/${courseId}`);

  lineItems = (courseId: string): Promise<readonly LineItem[]> => this.#all<LineItem>(`/lti/contexts/${courseId}/line-items`);

  results = (courseId: string, lineItemId: string): Promise<readonly Result[]> =>
    this.#all<Result>(`/lti/contexts/${courseId}/line-items/${lineItemId}/results`);

  /** Returns the grades given through this launch, or for a column; newest first. */
  given = (courseId: string, lineItemId?: string): Promise<readonly Grade[]> =>
    this.#all<Grade>(
      '/lti/grades',
      lineItemId ? { context_id: courseId, line_item_id: lineItemId } : { launch_id: this.session.launchId },
    );

  giveIn = (courseId: string, lineItemId: string, grade: NewGrade): Promise<Grade> =>
    this.json<Grade>('POST', `/lti/contexts/${courseId}/line-items/${lineItemId}/scores`, { body: grade });

  /** Lists the person's own files, wherever they are. */
  ownFiles(userId: string, cursor?: string): Promise<Page<FileItem>> {
    const query = new URLSearchParams({
      owner: userId,
      sort: '-updated_at',
      limit: OWN_PAGE_SIZE,
      ...(cursor ? { cursor } : {}),
    });
    return this.json<Page<FileItem>>('GET', `/files?${query}`);
  }

  /** Returns null if nothing was handed in or it was deleted since. */
  lastHandIn = (): Promise<HandIn | null> =>
    this.handIn().catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'not_found') return null;
      throw error;
    });

  handInFile = (fileId: string): Promise<HandIn> =>
    this.json<HandIn>('POST', `/lti/launches/${this.session.launchId}/hand-in`, { body: { file_id: fileId } });

  /** Lists a folder, null being the person's own root; each entry with the group's grant on it. */
  shareables = (folderId: string | null, groupId: string, cursor?: string): Promise<Page<Shareable>> =>
    this.children<Shareable>(folderId, cursor, { grant_of: groupId });

  /** Lets a group read the entry. Returns the grant's id. */
  async share(entry: Entry, groupId: string): Promise<string> {
    const body = { permission_level: 'read', group_id: groupId };
    return (await this.json<Grant>('POST', `/${entry.type}s/${entry.id}/permissions`, { body })).id;
  }

  takeBack = (entry: Entry, grantId: string): Promise<null> =>
    this.json<null>('DELETE', `/${entry.type}s/${entry.id}/permissions/${grantId}`);

  sharedWithMe(cursor?: string): Promise<Page<Entry>> {
    const query = new URLSearchParams({ sort: 'name', limit: OWN_PAGE_SIZE, ...(cursor ? { cursor } : {}) });
    return this.json<Page<Entry>>('GET', `/shared-with-me?${query}`);
  }

  give = (grade: NewGrade): Promise<Grade> => this.json<Grade>('POST', this.#grades, { body: grade });

  /** Returns the grade's current state. */
  async grade({ id, line_item_id: lineItemId, user_id: userId }: Grade): Promise<Grade> {
    if (lineItemId === null) return this.json<Grade>('GET', `${this.#grades}/${id}`);
    const of = { line_item_id: lineItemId, user_id: userId };
    const grade = (await this.#all<Grade>('/lti/grades', of)).find((one) => one.id === id);
    if (!grade) throw new ApiError({ code: 'not_found', message: '' });
    return grade;
  }

  retry = (id: string): Promise<Grade> => this.json<Grade>('POST', `/lti/grades/${id}/retry`);

  /** Returns a list that a page needs completely. */
  async #all<Item>(path: string, filters: Readonly<Record<string, string>> = {}): Promise<readonly Item[]> {
    const items: Item[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = new URLSearchParams({ ...filters, limit: LONGEST_PAGE, ...(cursor === '' ? {} : { cursor }) });
      const { data, pagination }: Page<Item> = await this.json<Page<Item>>('GET', `${path}?${query}`);
      items.push(...data);
      cursor = pagination.has_more ? pagination.next_cursor : null;
    }
    return items;
  }

  get #grades(): string {
    return `/lti/launches/${this.session.launchId}/grades`;
  }
}
