import { afterEach, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CATALOGUE } from '../pkg/api/error-catalogue.ts';
import { PAGE_ERRORS_DE } from '../pkg/http/page-errors.de.ts';
import { resultOfReply } from '../pkg/lti/grades/replies.policy.ts';
import { LINK_PROBLEM_CODES } from '../pkg/lti/links/link-problems.policy.ts';
import { part, speak, textsLoaded, timeInWords } from '../pkg/web/text/language.ts';
import { count, t } from '../pkg/web/text/lti.ts';
import { en } from '../pkg/web/text/lti.en.ts';
import { en as problems } from '../pkg/web/text/problems.en.ts';
import { reasonInWords } from '../pkg/web/text/reasons.ts';

const root = join(import.meta.dirname, '..');
const web = join(root, 'pkg/web');

const sourceOf = (file: string): string => readFileSync(join(root, file), 'utf8');

type Catalogue = Readonly<Record<string, string>>;

/** A part of the pages with texts of its own: its catalogues, and the sources of the pages that use it. */
interface TextPart {
  readonly name: string;
  readonly english: Catalogue;
  readonly german: Catalogue;
  readonly users: string;
}

/** The pages' sources, the catalogues left out. */
const sources = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/^dist|\.(en|de)\.ts$|\.test\.ts$/.test(file))
  .map((file) => readFileSync(join(web, file), 'utf8'));

const names = readdirSync(join(web, 'text')).flatMap((file) => /^(.+)\.en\.ts$/.exec(file)?.[1] ?? []);
const catalogue = async (name: string, language: string): Promise<Catalogue> =>
  ((await import(join(web, 'text', `${name}.${language}.ts`))) as Record<string, Catalogue>)[language] ?? {};
const parts: readonly TextPart[] = await Promise.all(
  names.map(async (name) => ({
    name,
    english: await catalogue(name, 'en'),
    german: await catalogue(name, 'de'),
    users: sources.filter((source) => new RegExp(`/${name}\\.ts'`).test(source)).join('\n'),
  })),
);

const valuesIn = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(String).sort();

afterEach(() => speak('en'));

test.each(parts)('both languages of $name have the same keys, with the same values put in, and no text is empty', (own) => {
  expect(Object.keys(own.german)).toEqual(Object.keys(own.english));
  for (const [key, text] of Object.entries(own.english)) {
    const other = own.german[key] ?? '';
    expect([key, valuesIn(other)]).toEqual([key, valuesIn(text)]);
    expect([key, other.trim() === other && other !== '']).toEqual([key, true]);
  }
});

test('texts whose script is gone stay in English, and the page goes on', async () => {
  await speak('de');
  const { t: own } = part({ title: 'Files' }, { de: () => Promise.reject(new Error('404')) });
  await textsLoaded();

  expect(own('title')).toBe('Files');
});

test.each(parts)('a page uses each text of $name', ({ english, users }) => {
  const isUsed = (key: string): boolean => {
    const stem = key.replace(/\.(one|other)$/, '').replace(/^(picker\..+)For$/, '$1');
    // A key may be put together: `refused.${code}`.
    return users.includes(`'${stem}'`) || users.includes(`\`${stem.split('.')[0]}.\${`);
  };

  expect(Object.keys(english).filter((key) => !isUsed(key))).toEqual([]);
});

test('each problem of a placed link is said in the language of the page', () => {
  expect(LINK_PROBLEM_CODES.filter((code) => !Object.hasOwn(en, `refused.${code}`))).toEqual([]);
});

/** Codes of operations that no page asks for, and of requests as no page sends them. */
const NOT_OF_PAGES = [
  'invalid_credentials',
  'invalid_refresh_token',
  'invalid_reset_token',
  'session_expired',
  'tenant_mismatch',
  'share_password_required',
  'share_password_wrong',
  'too_many_attempts',
  'method_not_allowed',
  'unsupported_media_type',
  'headers_too_large',
  'precondition_failed',
  'range_not_satisfiable',
  'tus_version_unsupported',
  'checksum_mismatch',
  'value_type_mismatch',
  'address_refused',
  'archive_too_large',
  'archive_refused',
  'pdf_signed',
  'pdf_encrypted',
  'helper_not_configured',
  'helper_rejected',
  'helper_unavailable',
];

test('each code of the API that a page can show has a text in the language of the page', () => {
  const untranslated = Object.keys(CATALOGUE).filter((code) => !Object.hasOwn(en, `refused.${code}`));

  expect(untranslated.sort()).toEqual(NOT_OF_PAGES.sort());
});

/** Codes of operations that the app does not ask for, and of requests as it does not send them. */
const NOT_OF_APP = [
  'answer_too_long',
  'checksum_mismatch',
  'headers_too_large',
  'invalid_refresh_token',
  'item_refused',
  'line_item_missing',
  'method_not_allowed',
  'picker_answered',
  'range_not_satisfiable',
  'score_scope_missing',
  'share_password_required',
  'share_password_wrong',
  'tenant_mismatch',
  'tus_version_unsupported',
];

test('each code of the API that a page of the app can show has a text in the language of the page', () => {
  const untranslated = Object.keys(CATALOGUE).filter((code) => !Object.hasOwn(problems, `problem.${code}`));

  expect(untranslated.sort()).toEqual(NOT_OF_APP.sort());
});

test('each code that a page of the server can show in place of another page has a German text', () => {
  const files = ['admission', 'rate-limits', 'request/form', 'request/posted-json', 'middleware/errors'].map(
    (file) => `pkg/http/${file}.ts`,
  );
  const codes = [
    ...files,
    'pkg/api/suspended-reply.ts',
    'pkg/content/sharing/share-downloads.service.ts',
    'pkg/content/sharing/share-proof.ts',
  ]
    .flatMap((file) => [...sourceOf(file).matchAll(/new Problem\(\s*'(\w+)'/g)].map(([, code = '']) => code))
    .filter((code) => !code.startsWith('share_password')); // the page of the link says it at its field

  expect(codes).toEqual(
    expect.arrayContaining(['rate_limit_exceeded', 'unavailable', 'internal', 'payload_too_large', 'not_found']),
  );
  expect(codes.filter((code) => !Object.hasOwn(PAGE_ERRORS_DE, code))).toEqual([]);
});

/** A template's text with something in the place of each value. */
const filledIn = (template: string): string =>
  template
    .replaceAll(/\$\{[\w.]*[mM]s\}/g, '15000')
    .replaceAll(/\$\{(target\.port|maxBytes)\}/g, '443')
    .replaceAll('${what}', 'begin its reply')
    .replaceAll(/\$\{[^}]+\}/g, 'lms.example');

/** Why a grade is not in the grade book yet, in each way that the code has. */
function reasons(): string[] {
  const templates = (file: string, pattern: RegExp): string[] =>
    [...sourceOf(file).matchAll(pattern)].map(([, text, other = '']) => filledIn(text ?? other));
  const network = [
    ...['client', 'guarded-connector'].flatMap((file) =>
      templates(`pkg/net/${file}.ts`, /new EgressError\('(?!aborted|request_refused)\w+', (?:`([^`]+)`|'([^']+)')/g),
    ),
    ...templates('pkg/net/egress-error.ts', /\['(?!aborted|request_refused)\w+', '([^']+)'\]/g).map(
      (text) => `lms.example ${text}`,
    ),
    ...templates('pkg/net/egress-error.ts', /new EgressError\('\w+', `([^`]+)`, \{ status/g),
  ];
  const answers = [302, 400, 401, 404, 409, 422, 429, 503].flatMap((status) =>
    ['', 'Spalte fehlt'].map((text) => resultOfReply(status, { isResend: false, text, retryAfter: undefined })),
  );
  const answered = answers.flatMap((answer) => ('reason' in answer ? [answer.reason] : []));
  const tokens = [
    ...templates(
      'pkg/lti/services/service-tokens.ts',
      /ServiceTokenError\([`'](the LMS gave no token: [^$`']+(?:\$\{missing[^`]*)?)[`']/g,
    ),
    ...templates('pkg/lti/services/service-client.ts', /ServiceTokenError\('([^']+)'/g),
    ...['', ' (invalid_client: unknown)'].map((said) => `the LMS gave no token: it answered 401${said}`),
    'the LMS gave no token: it answered 400 (bad iat); clocks differ: that of the LMS (2026-01-01T00:00:00Z) is 90 s ' +
      'behind ours (2026-01-01T00:01:30Z)',
    'the LMS gave no token: it answered 400 (bad iat); clocks may differ: ours says 2026-01-01T00:01:30Z',
    ...network.map((text) => `the LMS gave no token: ${text}`),
  ];
  const processor = [
    ...templates('pkg/lti/grades/submit-grade.processor.ts', /reason: '([^']+)'/g),
    ...templates('pkg/lti/grades/submit-grade.processor.ts', /later\('([^']+)'/g),
    'a newer score exists: the LMS answered 409',
    'the LMS answered 409; a newer score of this person is about to be sent',
    'the LMS answered 409: too old; it is sent again with a later timestamp',
  ];
  return [...network, ...answered, ...tokens, ...processor];
}

test('each reason why a grade is missing in the grade book is said in the page’s language, after any attempts', async () => {
  const all = reasons();
  const given = all.map((reason) => `given up after 9 attempts: ${reason}`);
  await speak('de');
  const german = [...all, ...given].map((reason) => [reason, reasonInWords(reason)]);

  expect(all.length).toBeGreaterThan(80);
  expect(
    german.filter(([reason, words]) => words === reason || /\b(the|its?|did|not|answer|ended)\b|\{/.test(words ?? '')),
  ).toEqual([]);
  expect(reasonInWords('given up after 9 attempts: the LMS answered 503: Wartung')).toBe(
    'Ihr LMS hat mit Status 503 geantwortet: „Wartung“. Nach 9 Versuchen aufgegeben.',
  );
  expect(reasonInWords('teapot')).toBe('teapot');
});

test('what a page says follows its language: texts, plurals, numbers and times', async () => {
  const all = (): string[] => [
    t('previewOf', { name: 'Plan {name}' }),
    count('files', 1),
    count('files', 1234),
    timeInWords('2026-03-04T12:06:07Z').replace(/\d\d:\d\d/, 'hh:mm'),
  ];
  const english = all();
  await speak('de');
  const german = all();
  await speak('xx');

  expect(german).toEqual(['Vorschau von Plan {name}', '1 Datei', '1.234 Dateien', '04.03.2026, hh:mm']);
  expect([english[0], english[1], english[2]]).toEqual(['Preview Plan {name}', '1 file', '1,234 files']);
  expect(t('loading')).toBe('Loading …');
});

test('a part that is declared after the language was chosen speaks it as soon as its texts are loaded', async () => {
  await speak('de');
  const late = part({ hello: 'Hello' }, { de: async () => ({ hello: 'Guten Tag' }) });
  await textsLoaded();

  expect(late.t('hello')).toBe('Guten Tag');
  await speak('en');
  expect(late.t('hello')).toBe('Hello');
});
