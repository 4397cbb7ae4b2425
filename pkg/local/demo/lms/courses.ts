import type { Launch } from './claims.ts';
import { Refusal } from './refusal.ts';

/** A person in a course, in the form of NRPS 2.0 §2.1–2.3. */
export interface Member {
  /** The `sub` of their launches. */
  readonly user_id: string;
  readonly roles: readonly string[];
  /** If missing, the tool must assume `Active`. */
  readonly status?: 'Active' | 'Inactive';
  readonly name?: string;
  readonly given_name?: string;
  readonly family_name?: string;
  readonly email?: string;
}

export interface Course {
  readonly id: string;
  readonly title: string;
  /** Members by user_id. */
  readonly members: Map<string, Member>;
  /** Links by id, with the tools (client ids) that they open. Only tests let one link open several tools. */
  readonly links: Map<string, Set<string>>;
  /** The only people who may open a link, by the link's id; links without an entry are open to all. */
  readonly restricted: Map<string, ReadonlySet<string>>;
}

/** The courses of an LMS, with their members and links. */
export class Courses {
  readonly #courses = new Map<string, Course>();
  /** The originals of each copy, the newest first. */
  readonly #histories = new Map<string, readonly string[]>();

  find(id: string): Course | undefined {
    return this.#courses.get(id);
  }

  /** Returns the course that a part of an address names. Throws Refusal 404. */
  require(part: string): Course {
    const course = this.find(decoded(part));
    if (!course) throw new Refusal(404, 'the course does not exist');
    return course;
  }

  /** Replaces an existing member. */
  enrol(course: { readonly id: string; readonly title: string }, member: Member): void {
    this.#course(course).members.set(member.user_id, member);
  }

  /** Restricts a link to these people. */
  restrict(courseId: string, link: string, userIds: readonly string[]): void {
    this.find(courseId)?.restricted.set(link, new Set(userIds));
  }

  unenrol(courseId: string, userId: string): void {
    this.find(courseId)?.members.delete(userId);
  }

  /** Makes the person who launches a member, with the roles of the last launch. Data from earlier launches stay. */
  launched({ course, user, roles, resourceLinkId }: Launch, clientId: string): void {
    if (course === null) return;
    const { members, links } = this.#course(course);
    const { name, email } = user;
    members.set(user.id, {
      status: 'Active',
      ...members.get(user.id),
      user_id: user.id,
      roles,
      ...(name === undefined ? {} : { name }),
      ...(email === undefined ? {} : { email }),
    });
    links.set(resourceLinkId, (links.get(resourceLinkId) ?? new Set()).add(clientId));
  }

  /** Takes ids of courses: the second becomes a copy of the first. */
  copied(origin: string, copy: string): void {
    this.#histories.set(copy, [origin, ...this.historyOf(origin)]);
  }

  historyOf(id: string): readonly string[] {
    return this.#histories.get(id) ?? [];
  }

  #course({ id, title }: { readonly id: string; readonly title: string }): Course {
    const course = this.#courses.get(id) ?? { id, title, members: new Map(), links: new Map(), restricted: new Map() };
    this.#courses.set(id, course);
    return course;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
