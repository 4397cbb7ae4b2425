import { escapeHtml, type PageReply, type WebPages } from '../../api/page.ts';
import type { PageLanguage } from '../../api/page-language.ts';
import { nextStepOf } from '../registrations/products.policy.ts';
import type { Offer, Outcome } from './dynamic-registration.service.ts';
import { REGISTRATION_TEXT, REGISTRATION_TEXT_MAY, type RegistrationText } from './registration-text.ts';
import type { Tool } from './tool-registration.policy.ts';

type Keys = Readonly<Record<string, keyof RegistrationText>>;

const SERVICES: Keys = {
  'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem': 'lineItems',
  'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem.readonly': 'lineItemsRead',
  'https://purl.imsglobal.org/spec/lti-ags/scope/result.readonly': 'results',
  'https://purl.imsglobal.org/spec/lti-ags/scope/score': 'scores',
  'https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly': 'roster',
  'https://purl.imsglobal.org/spec/lti/scope/noticehandlers': 'notices',
};
const MESSAGES: Keys = {
  LtiResourceLinkRequest: 'links',
  LtiDeepLinkingRequest: 'picking',
  LtiSubmissionReviewRequest: 'reviews',
};

/**
 * An LMS shows these pages in a frame, from an origin that is unknown in advance, so any site may frame them. Their address is
 * the secret; `referrer-policy` keeps it from other sites.
 */
const headersOf = (files: string): Readonly<Record<string, string>> => ({
  'content-security-policy':
    `default-src 'none'; script-src ${files}; style-src ${files}; font-src ${files}; base-uri 'none'; form-action 'self'; ` +
    "frame-ancestors *; require-trusted-types-for 'script'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
});

/** `files`: as in PageRequest. */
interface Shown {
  readonly language: PageLanguage;
  readonly files: string;
}

const page = (web: WebPages, { language, files }: Shown, title: string, content: string): PageReply => ({
  status: 200,
  body: web.document('registration', {
    title,
    language,
    body: `<main class="card"><div class="card-body">\n<h1>${escapeHtml(title)}</h1>\n${content}</div></main>`,
  }),
  headers: headersOf(files),
});
const list = (items: readonly string[]): string =>
  `<ul>\n${items.map((item) => `<li>${escapeHtml(item)}</li>\n`).join('')}</ul>\n`;
const section = (heading: string, items: readonly string[]): string =>
  items.length === 0 ? '' : `<h2>${escapeHtml(heading)}</h2>\n${list(items)}`;
const terms = (pairs: readonly (readonly [string, string])[]): string =>
  `<dl>\n${pairs
    .map(([term, value]) => `<dt>${escapeHtml(term)}</dt>\n<dd><code>${escapeHtml(value)}</code></dd>\n`)
    .join('')}</dl>\n`;
/** Returns the text of a value, or the value itself if it has no text. */
const wordOf = (keys: Keys, value: string, text: RegistrationText): string => {
  const key = keys[value];
  return key === undefined ? value : text[key];
};
const inWords = (keys: Keys, values: readonly string[], text: RegistrationText): string[] =>
  values.map((value) => wordOf(keys, value, text));

const messageInWords = (type: string, placements: readonly string[], text: RegistrationText): string =>
  `${wordOf(MESSAGES, type, text)}${placements.length === 0 ? '' : ` (${placements.join(', ')})`}`;

/** Shows what will be registered, and the button. `action`: the address that the form is posted to. */
export function offerPage(
  web: WebPages,
  { platform, asked, platformName, sealedPlan }: Offer,
  { tool, action, ...shown }: { tool: Tool; action: string } & Shown,
): PageReply {
  const text = REGISTRATION_TEXT[shown.language];
  const { issuer, authEndpoint, product, version } = platform;
  const content = `<p>${text.nothingYet}</p>
<h2>${text.lms}</h2>
${terms([
  ...(platformName === null ? [] : [[text.name, platformName] as const]),
  [text.issuer, issuer],
  [text.signInAt, new URL(authEndpoint).host],
  ...(product === null ? [] : [[text.product, [product, version].filter(Boolean).join(' ')] as const]),
])}<h2>${text.tool}</h2>
${terms([
  [text.name, tool.name],
  ['Launch URL', `${tool.appUrl}/lti/launch`],
  ['Login initiation URL', `${tool.ltiUrl}/login_initiation`],
  ['Redirect URI', `${tool.ltiUrl}/launch`],
  ['Key set URL', `${tool.ltiUrl}/.well-known/jwks.json`],
])}${section(
    text.willInCourses,
    asked.messages.map(({ type, placements }) => messageInWords(type, placements, text)),
  )}${section(
    text.willAsk,
    inWords(SERVICES, asked.scopes, text),
  )}${section(text.willSend, asked.claims)}<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="plan" value="${escapeHtml(sealedPlan)}">
<button type="submit" class="c-button c-button-primary">${text.register}</button>
</form>
`;
  return page(web, shown, text.offerTitle, content);
}

/** Shows what was registered, what remains to be done at the LMS, and the button that returns the window to the LMS. */
export function outcomePage(web: WebPages, { issuer, agreement, hasDeployment }: Outcome, shown: Shown): PageReply {
  const { language } = shown;
  const text = REGISTRATION_TEXT[language];
  const refused = agreement.scopes_asked.filter((scope) => !agreement.scopes_granted.includes(scope));
  const deploymentSteps = agreement.shares_client_id ? [text.sharedClientId] : hasDeployment ? [] : [text.noDeployment];
  const steps = [nextStepOf(agreement.product, language), ...deploymentSteps];
  const placements = agreement.placements.map((placement) => {
    const [type = '', where] = placement.split(':');
    return messageInWords(type, where === undefined ? [] : [where], text);
  });
  const content = `<p role="status">${escapeHtml(text.registered.replace('{issuer}', () => issuer))}</p>
${section(text.leftToDo, steps)}${section(text.canInCourses, placements)}${section(
    text.may,
    inWords(SERVICES, agreement.scopes_granted, REGISTRATION_TEXT_MAY[language]),
  )}${section(text.mayNot, inWords(SERVICES, refused, text))}<p>
<button type="button" id="close" class="c-button c-button-primary">${text.back}</button>
</p>
`;
  return page(web, shown, text.outcomeTitle, content);
}
