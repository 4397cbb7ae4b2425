import { escapeHtml, type PageReply, type WebPages } from '../../api/page.ts';
import { nextStepOf } from '../registrations/products.policy.ts';
import type { Offer, Outcome } from './dynamic-registration.service.ts';
import type { Tool } from './tool-registration.policy.ts';

const SERVICES: Readonly<Record<string, string>> = {
  'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem': 'make and change columns of the grade book',
  'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem.readonly': 'read the columns of the grade book',
  'https://purl.imsglobal.org/spec/lti-ags/scope/result.readonly': 'read grades',
  'https://purl.imsglobal.org/spec/lti-ags/scope/score': 'send grades',
  'https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly': 'read who is in a course',
  'https://purl.imsglobal.org/spec/lti/scope/noticehandlers': 'receive notices of copied courses',
};
const MESSAGES: Readonly<Record<string, string>> = {
  LtiResourceLinkRequest: 'open links in courses',
  LtiDeepLinkingRequest: 'pick files for a course',
  LtiSubmissionReviewRequest: 'review what was handed in',
};

/**
 * An LMS shows these in a frame of its own, at an origin that nobody knows before: any site may frame them. Their address is the secret, and it is sent
 * to nobody (`referrer-policy`).
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors *; require-trusted-types-for 'script'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

const page = (web: WebPages, title: string, content: string): PageReply => ({
  status: 200,
  body: web.document('registration', { title, body: `<main>\n<h1>${escapeHtml(title)}</h1>\n${content}</main>` }),
  headers: HEADERS,
});
const list = (items: readonly string[]): string => `<ul>\n${items.map((item) => `<li>${escapeHtml(item)}</li>\n`).join('')}</ul>\n`;
const section = (heading: string, items: readonly string[]): string =>
  items.length === 0 ? '' : `<h2>${escapeHtml(heading)}</h2>\n${list(items)}`;
const terms = (pairs: readonly (readonly [string, string])[]): string =>
  `<dl>\n${pairs.map(([term, value]) => `<dt>${escapeHtml(term)}</dt>\n<dd><code>${escapeHtml(value)}</code></dd>\n`).join('')}</dl>\n`;
const inWords = (names: Readonly<Record<string, string>>, values: readonly string[]): string[] =>
  values.map((value) => names[value] ?? value);

const messageInWords = (type: string, placements: readonly string[]): string =>
  `${MESSAGES[type] ?? type}${placements.length === 0 ? '' : ` (${placements.join(', ')})`}`;

/** What will be registered, and the button. `action`: where the form is posted. */
export function offerPage(web: WebPages, { platform, asked, platformName, sealedPlan }: Offer, tool: Tool, action: string): PageReply {
  const { issuer, authEndpoint, product, version } = platform;
  const content = `<p>Nothing has been registered yet.</p>
<h2>The LMS</h2>
${terms([
  ...(platformName === null ? [] : [['Name', platformName] as const]),
  ['Issuer', issuer],
  ['People sign in at', new URL(authEndpoint).host],
  ...(product === null ? [] : [['Product', [product, version].filter(Boolean).join(' ')] as const]),
])}<h2>The tool</h2>
${terms([
  ['Name', tool.name],
  ['Launch URL', `${tool.appUrl}/lti/launch`],
  ['Login initiation URL', `${tool.ltiUrl}/login_initiation`],
  ['Redirect URI', `${tool.ltiUrl}/launch`],
  ['Key set URL', `${tool.ltiUrl}/.well-known/jwks.json`],
])}${section(
    'In courses, people will',
    asked.messages.map(({ type, placements }) => messageInWords(type, placements)),
  )}${section('The tool will ask to', inWords(SERVICES, asked.scopes))}${section('The LMS will send of a person', asked.claims)}<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="plan" value="${escapeHtml(sealedPlan)}">
<button type="submit">Register</button>
</form>
`;
  return page(web, 'Register this service at your LMS', content);
}

/** What was registered, what is left to do at the LMS, and the button that gives the window back to it. */
export function outcomePage(web: WebPages, { issuer, agreement, hasDeployment }: Outcome): PageReply {
  const refused = agreement.scopes_asked.filter((scope) => !agreement.scopes_granted.includes(scope));
  const steps = [
    nextStepOf(agreement.product),
    ...(hasDeployment
      ? []
      : [
          'The LMS names its deployment at the first launch. That launch is refused as deployment_waiting; an administrator here then admits the deployment.',
        ]),
  ];
  const placements = agreement.placements.map((placement) => {
    const [type = '', where] = placement.split(':');
    return messageInWords(type, where === undefined ? [] : [where]);
  });
  const content = `<p role="status">${escapeHtml(issuer)} is registered. It works here in a few seconds.</p>
${section('What is left to do at the LMS', steps)}${section('In courses, people can', placements)}${section(
    'The tool may',
    inWords(SERVICES, agreement.scopes_granted),
  )}${section('The LMS did not allow the tool to', inWords(SERVICES, refused))}<p><button type="button" id="close">Back to the LMS</button></p>
`;
  return page(web, 'The LMS is registered', content);
}
