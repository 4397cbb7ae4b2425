import { type Answer, send, type TenantClient } from './tenant-client.ts';

const TOOL = 'carrel-general';
/** Who opens the course in the demo LMS; the others come by its list of members. */
const LAUNCHING = ['ada', 'ben', 'chi'];
const COURSE = 'physics-1';

/** A column of the course's grade book. Its scores and comments are by the LMS's ids of people. */
interface Column {
  readonly item: { readonly label: string; readonly score_maximum: number; readonly resource_id: string };
  readonly scores: Readonly<Record<string, number>>;
  readonly comments: Readonly<Record<string, string>>;
}

const COLUMNS: readonly Column[] = [
  {
    item: { label: 'Lab report: tides', score_maximum: 20, resource_id: 'lab-report' },
    scores: { ben: 17.5, chi: 19, dana: 14, emil: 16, fatima: 20, gabriel: 11.5, hana: 18 },
    comments: { ben: 'Clear figures. Say how you measured.', fatima: 'Worth a poster.', gabriel: 'The second half is missing.' },
  },
  {
    item: { label: 'Field notes', score_maximum: 10, resource_id: 'field-notes' },
    scores: { ben: 9, chi: 8.5, dana: 7 },
    comments: { chi: 'The sketches are a pleasure.' },
  },
];

/** Launches a course of the demo LMS for some people, takes over its members, and grades them. */
export async function addCourse(routerPort: number, admin: TenantClient): Promise<void> {
  for (const person of LAUNCHING) await launch(routerPort, person);
  const context = (await admin.get('/lti/contexts')).data[0];
  if (context === undefined) throw new Error(`the launches of ${COURSE} left no course`);
  await Promise.all([admin.post(`/lti/contexts/${context.id}/members/sync`, {}), grade(admin, context), nameAddresses(admin)]);
}

/** Gives those who launched the address that the LMS has of them, as an administrator would who wants them to sign in. */
async function nameAddresses(admin: TenantClient): Promise<void> {
  const { data: people } = await admin.get('/users?limit=100');
  const launched = people.filter(({ contact_email: known }: Answer) => known !== null);
  await Promise.all(launched.map(({ id, contact_email }: Answer) => admin.patch(`/users/${id}`, { email: contact_email })));
}

async function grade(admin: TenantClient, context: Answer): Promise<void> {
  for (const { item, scores, comments } of COLUMNS) {
    const { id } = await admin.post(`/lti/contexts/${context.id}/line-items`, item);
    await Promise.all(
      Object.entries(scores).map(([person, score]) =>
        admin.post(`/lti/contexts/${context.id}/line-items/${id}/scores`, {
          user_id: person,
          score,
          score_maximum: item.score_maximum,
          comment: comments[person],
        }),
      ),
    );
  }
}

/** Follows a link of the demo LMS as a browser would: its page posts a form by script. */
async function launch(routerPort: number, person: string): Promise<void> {
  const opened = await send(
    routerPort,
    'GET',
    `http://lms.localhost:${routerPort}/open?tool=${TOOL}&person=${person}&course=${COURSE}&in=window`,
  );
  const begun = await send(routerPort, 'GET', locationOf(opened));
  const cookies = [begun.headers['set-cookie'] ?? []].flat().map((cookie) => cookie.split(';')[0]);
  const page = await send(routerPort, 'GET', locationOf(begun));
  const action = /<form method="post" action="([^"]*)">/.exec(page.text)?.[1] ?? '';
  const fields = [...page.text.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]);
  const form = new URLSearchParams(fields as [string, string][]).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie: cookies.join('; ') };
  const entered = await send(routerPort, 'POST', action, headers, form);
  if (entered.status >= 400) throw new Error(`the launch of ${person} was answered ${entered.status}`);
}

function locationOf({ status, headers, text }: Awaited<ReturnType<typeof send>>): string {
  const { location } = headers;
  if (typeof location !== 'string') throw new Error(`a launch stopped with ${status}: ${text.slice(0, 200)}`);
  return location;
}
