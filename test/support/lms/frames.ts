import type { IncomingMessage, ServerResponse } from 'node:http';
import { escaped, page, table } from '../../../pkg/local/demo/html.ts';
import type { Lms } from '../../../pkg/local/demo/lms/lms.ts';

const FRAME_PATH = '/frame';

/** Removes the frame when the tool says that it is done (LTI Dynamic Registration 1.0 §3.7). */
const CLOSES = `addEventListener('message', ({ data }) => {
  if (data.subject !== 'org.imsglobal.lti.close') return;
  document.querySelector('iframe').remove();
  document.body.append('The tool has closed its frame.');
});`;

/**
 * The LMS's own pages: a tool in a frame named `tool`, and below it what the LMS knows: the members of a course and the scores.
 */
export class LmsFrames {
  readonly #lms: Lms;

  constructor(lms: Lms) {
    this.#lms = lms;
    lms.paths.set(FRAME_PATH, (request, response) => this.#answer(request, response));
  }

  /** The address of a page that frames `tool`. `course`: the id of the one whose members it lists. */
  url(title: string, tool: URL, course = ''): string {
    return `${this.#lms.issuer}${FRAME_PATH}?${new URLSearchParams({ title, tool: tool.href, course }).toString()}`;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = new URL(request.url ?? '/', this.#lms.issuer);
    const [title, tool, course] = ['title', 'tool', 'course'].map((name) => searchParams.get(name) ?? '');
    const frame = `<iframe title="The tool" name="tool" src="${escaped(tool ?? '')}"></iframe><script>${CLOSES}</script>`;
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
      .end(page(title ?? '', `${frame}${this.#course(course ?? '')}`));
  }

  #course(id: string): string {
    const course = this.#lms.courses.find(id);
    if (!course) return '';
    const members = [...course.members.values()].map(({ user_id, name = user_id }) => [escaped(name)]);
    const scores = this.#lms.scores.book.map(({ userId, scoreGiven, scoreMaximum, comment = '' }) => [
      escaped(course.members.get(userId)?.name ?? userId),
      `${scoreGiven} of ${scoreMaximum}`,
      escaped(comment),
    ]);
    return (
      `<h2>Members</h2>${table(['name'], members, 'None.')}` +
      `<h2>Grade book</h2>${table(['person', 'score', 'comment'], scores, 'No score yet.')}`
    );
  }
}
