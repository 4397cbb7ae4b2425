import { AGS_SCOPES } from './scopes.ts';

/** Names of claims and roles as in the 1EdTech documents (LTI Core 1.3 §5.3, AGS 2.0 §3.1, NRPS 2.0 §3.6.1.1). */
export const LTI = 'https://purl.imsglobal.org/spec/lti/claim';
export const AGS = 'https://purl.imsglobal.org/spec/lti-ags/claim/endpoint';
export const NRPS = 'https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice';
export const INSTRUCTOR = 'http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor';
export const LEARNER = 'http://purl.imsglobal.org/vocab/lis/v2/membership#Learner';

export type Claims = Record<string, unknown>;

/** A link in a course, opened by a person. */
export interface Launch {
  readonly user: { readonly id: string; readonly name?: string; readonly email?: string };
  readonly roles: readonly string[];
  /** `label` is its short name; without one it is the id. */
  readonly course: { readonly id: string; readonly title: string; readonly label?: string } | null;
  readonly resourceLinkId: string;
  readonly targetLinkUri: string;
  /** The link's title; default: `Files`. */
  readonly linkTitle?: string;
  /** The link's custom parameters, as a teacher can edit them. */
  readonly custom?: Readonly<Record<string, string>>;
  /** The frame that offers LTI platform storage, as login initiation names it; undefined if there is none. */
  readonly storageTarget?: string;
  /** The address to which the LMS wants the person to return. */
  readonly returnUrl?: string;
}

/** Return the addresses of the course's services, as a launch names them. */
export const lineItemsUrl = (issuer: string, courseId: string): string =>
  `${issuer}/ags/${encodeURIComponent(courseId)}/lineitems`;
export const membersUrl = (issuer: string, courseId: string): string => `${issuer}/nrps/${encodeURIComponent(courseId)}/members`;

/** The addressee of a launch, and the claims that do not come from the person. */
interface Addressed {
  /** The base address of its services. */
  readonly base: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly deploymentId: string;
  readonly nonce: string;
  /** Seconds since 1970. */
  readonly now: number;
  readonly lifetimeSeconds: number;
  /** The only line item of the link; undefined if there are several or none. */
  readonly lineItem: string | undefined;
}

/** Returns the claims of a resource link launch. */
export function claimsOf(launch: Launch, to: Addressed): Claims {
  const course = launch.course;
  return {
    iss: to.issuer,
    sub: launch.user.id,
    aud: to.clientId,
    iat: to.now,
    exp: to.now + to.lifetimeSeconds,
    nonce: to.nonce,
    ...(launch.user.name === undefined ? {} : { name: launch.user.name }),
    ...(launch.user.email === undefined ? {} : { email: launch.user.email }),
    [`${LTI}/message_type`]: 'LtiResourceLinkRequest',
    [`${LTI}/version`]: '1.3.0',
    [`${LTI}/deployment_id`]: to.deploymentId,
    [`${LTI}/target_link_uri`]: launch.targetLinkUri,
    [`${LTI}/resource_link`]: { id: launch.resourceLinkId, title: launch.linkTitle ?? 'Files' },
    ...(launch.custom === undefined ? {} : { [`${LTI}/custom`]: launch.custom }),
    [`${LTI}/roles`]: launch.roles,
    ...(launch.returnUrl === undefined ? {} : { [`${LTI}/launch_presentation`]: { return_url: launch.returnUrl } }),
    ...(course === null ? {} : { [`${LTI}/context`]: { id: course.id, label: course.label ?? course.id, title: course.title } }),
    ...(course === null
      ? {}
      : {
          [AGS]: {
            scope: [...AGS_SCOPES],
            lineitems: lineItemsUrl(to.base, course.id),
            ...(to.lineItem === undefined ? {} : { lineitem: to.lineItem }),
          },
          [NRPS]: { context_memberships_url: membersUrl(to.base, course.id), service_versions: ['2.0'] },
        }),
  };
}
