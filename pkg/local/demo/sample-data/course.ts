import { send, type TenantClient } from './tenant-client.ts';

const TOOL = 'carrel-general';
/** Who opens the course in the demo LMS; the others come by its list of members. */
const LAUNCHING = ['ada', 'ben', 'chi'];
const COURSE = 'physics-1';

/** Launches a course of the demo LMS for some people, takes over its members, and grades them. */
export async function addCourse(routerPort: number, admin: TenantClient): Promise<void> {
  for (const person of LAUNCHING) await launch(routerPort, person);
  const context = (await admin.get('/lti/contexts')).data[0];
  if (context === undefined) throw new Error(`the launches of ${COURSE} left no course`);
  await admin.post(`/lti/contexts/${context.id}/members/sync`, {});
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
