import { LTI, membersUrl } from './claims.ts';
import type { Course, Courses, Member } from './courses.ts';
import { pageOf, parameter } from './paging.ts';
import { Refusal } from './refusal.ts';
import { SCOPE } from './scopes.ts';
import { type Answer, type Call, Service } from './service.ts';
import type { TokenEndpoint } from './token.ts';

const CONTAINER = 'application/vnd.ims.lti-nrps.v2.membershipcontainer+json';
const CONTEXT_ROLE = 'http://purl.imsglobal.org/vocab/lis/v2/membership#';

/** The membership service of NRPS 2.0, at `/nrps/{course}/members`: everybody who is enrolled or has launched there. */
export function membershipService(issuer: string, { tokens, courses }: { tokens: TokenEndpoint; courses: Courses }): Service {
  const list = (part: string, { clientId, url, pageSize }: Call): Answer => {
    const course = courses.require(part);
    const link = linkOf(url, course, clientId);
    const role = parameter(url, 'role');
    const only = link === undefined ? undefined : course.restricted.get(link);
    const all = [...course.members.values()].filter(
      ({ user_id, roles }) => (role === undefined || roles.map(full).includes(full(role))) && (only?.has(user_id) ?? true),
    );
    const page = pageOf(all, url, pageSize);
    const { id, title } = course;
    return {
      body: { id: address(issuer, id, link), context: { id, label: id, title }, members: page.items.map(memberView(link)) },
      page,
    };
  };
  return new Service(issuer, tokens, ({ pathname }) => {
    const part = /^\/nrps\/([^/]+)\/members$/.exec(pathname)?.[1];
    return part === undefined
      ? undefined
      : { GET: { scopes: [SCOPE.members], gives: CONTAINER, run: (call) => list(part, call) } };
  });
}

/** Refuses a link that does not belong to the tool or the course (NRPS 2.0 §3.1). */
function linkOf(url: URL, course: Course, clientId: string): string | undefined {
  const link = parameter(url, 'rlid');
  if (link !== undefined && !course.links.get(link)?.has(clientId))
    throw new Refusal(403, 'rlid is not a link of this tool in this course');
  return link;
}

function address(issuer: string, courseId: string, link: string | undefined): string {
  const url = new URL(membersUrl(issuer, courseId));
  if (link !== undefined) url.searchParams.set('rlid', link);
  return url.href;
}

/** Context roles may be named without their address (NRPS 2.0 §2.4.1). */
const full = (role: string): string => (role.includes('/') ? role : `${CONTEXT_ROLE}${role}`);

/** Members of a link include the message with which they would launch (NRPS 2.0 §3.2). */
const memberView =
  (link: string | undefined) =>
  (member: Member): object =>
    link === undefined ? member : { ...member, message: [{ [`${LTI}/message_type`]: 'LtiResourceLinkRequest' }] };
