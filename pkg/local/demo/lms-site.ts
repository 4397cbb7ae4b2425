import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KubeClient } from '../../kube/transport.ts';
import { LEARNER } from './lms/claims.ts';
import { deepLinking } from './lms/deep-linking.ts';
import { Lms } from './lms/lms.ts';
import { escaped, page, table } from './html.ts';
import { CLASSMATES, COURSES, PEOPLE } from './lms-people.ts';
import { PLATFORM_STORAGE } from './platform-storage.ts';
import { type Tool, toolsOf } from './registrations.ts';

/** The ways to open a link: in a frame with or without platform storage, as a page, or as a request for content in a frame. */
const WAYS = ['frame', 'frame-without-storage', 'window', 'picker', 'hand-in'] as const;
type Way = (typeof WAYS)[number];

/** The types of items that the LMS accepts when it asks for content. */
const ACCEPTED: Partial<Record<Way, readonly string[]>> = {
  picker: ['ltiResourceLink', 'link', 'file', 'image'],
  'hand-in': ['file'],
};

/**
 * The demo LMS as a site. `/` has a link for each tenant, person and course; `/open` starts the launch; the rest are its LTI end
 * points. It reads its tools from the cluster at each request, so a new registration appears as a link on the next visit.
 */
export class LmsSite {
  readonly #lms: Lms;
  readonly #client: KubeClient;

  constructor(deps: { client: KubeClient; issuer: string }) {
    this.#client = deps.client;
    this.#lms = new Lms(deps.issuer);
    for (const course of COURSES) {
      for (const name of CLASSMATES) {
        const [id = ''] = name.toLowerCase().split(' ');
        this.#lms.courses.enrol(course, { user_id: id, name, email: `${id}@example.org`, roles: [LEARNER], status: 'Active' });
      }
    }
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.#lms.issuer);
    if (url.pathname === '/') return send(response, 200, this.#index(await this.#tools()));
    if (url.pathname === '/open') return this.#open(url.searchParams, response);
    this.#lms.answer(request, response);
  }

  async #tools(): Promise<Tool[]> {
    const tools = await toolsOf(this.#client, this.#lms.issuer);
    for (const tool of tools) this.#lms.register(tool);
    return tools;
  }

  #index(tools: readonly Tool[]): string {
    const rows = tools.flatMap((tool) =>
      COURSES.flatMap((course) =>
        PEOPLE.map((person) => {
          const link = (way: Way, text: string): string => {
            const to = new URLSearchParams({ tool: tool.clientId, person: person.id, course: course.id, in: way });
            const label = `${person.name} opens ${course.title} of ${tool.tenant} in ${text}`;
            return `<a href="/open?${escaped(to.toString())}" aria-label="${escaped(label)}">${text}</a>`;
          };
          const frames = `${link('frame', 'a frame')}, ${link('frame-without-storage', 'a frame without storage')}`;
          const others = `${link('window', 'this window')}, ${link('picker', 'the picker')}, ${link('hand-in', 'the hand-in')}`;
          const opens = `${frames}, ${others}`;
          return [escaped(tool.tenant), course.title, `${escaped(person.name)} (${person.as})`, opens];
        }),
      ),
    );
    const none = `No LtiRegistration of this LMS is Ready. Its issuer is ${this.#lms.issuer}.`;
    return page('Demo LMS', `${table(['tenant', 'course', 'person', 'open in'], rows, none)}${this.#gradeBook()}`);
  }

  #gradeBook(): string {
    const rows = this.#lms.scores.book.map(({ lineItem, userId, scoreGiven, scoreMaximum, comment = '', timestamp }) => [
      escaped(new URL(lineItem).pathname),
      escaped(PEOPLE.find(({ id }) => id === userId)?.name ?? userId),
      `${scoreGiven} of ${scoreMaximum}`,
      escaped(comment),
      escaped(timestamp),
    ]);
    const heads = ['line item', 'person', 'score', 'comment', 'as of'];
    return `<h2>Grade book</h2>${table(heads, rows, 'No tool has sent a score yet.')}`;
  }

  async #open(asked: URLSearchParams, response: ServerResponse): Promise<void> {
    const tool = (await this.#tools()).find(({ clientId }) => clientId === asked.get('tool'));
    const person = PEOPLE.find(({ id }) => id === asked.get('person'));
    const course = COURSES.find(({ id }) => id === asked.get('course'));
    const way = WAYS.find((one) => one === asked.get('in'));
    if (!tool || !person || !course || !way) {
      return send(response, 404, page('No such link', '<p>Start from <a href="/">the list of links</a>.</p>'));
    }
    const { id, name, email, roles } = person;
    const accepted = ACCEPTED[way];
    const asking = accepted ? deepLinking(this.#lms.issuer, { accept_types: accepted }) : {};
    const opened = {
      user: { id, name, email },
      roles,
      course,
      resourceLinkId: `${tool.clientId}-${course.id}`,
      returnUrl: `${this.#lms.issuer}/?back`,
      ...(way === 'frame' ? { storageTarget: '_parent' } : {}),
    };
    const login = this.#lms.open(tool.clientId, opened, asking);
    if (way === 'window') return void response.writeHead(303, { location: login.href }).end();
    send(response, 200, framePage(`${course.title}, as ${name}`, login, way));
  }
}

/** Returns the page with the tool in a frame, as LMSs show it. This window keeps the tool's data if its cookies are blocked. */
const framePage = (title: string, login: URL, way: Way): string =>
  page(
    title,
    `${way === 'frame' ? `<script>${PLATFORM_STORAGE}</script>` : ''}
<p><a href="/">Back to the list of links</a></p>
<iframe title="The tool" name="tool" src="${escaped(login.href)}" allow="fullscreen; clipboard-write"></iframe>`,
  );

function send(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(html);
}
