import { AGS, type Claims, INSTRUCTOR, type Launch, NRPS } from '../../../pkg/local/demo/lms/claims.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { SCOPE } from '../../../pkg/local/demo/lms/scopes.ts';
import { call, type Reply, type ServiceTool, startServiceTool } from '../../support/lms/service-tool.ts';

export const LINE_ITEM = 'application/vnd.ims.lis.v2.lineitem+json';
export const LINE_ITEMS = 'application/vnd.ims.lis.v2.lineitemcontainer+json';
export const RESULTS = 'application/vnd.ims.lis.v2.resultcontainer+json';
export const SCORE = 'application/vnd.ims.lis.v1.score+json';
export const MEMBERS = 'application/vnd.ims.lti-nrps.v2.membershipcontainer+json';

/** An LMS and two tools of it; what is asked, the first one asks, with a token for just the scope. */
export interface Services {
  readonly lms: Lms;
  readonly tool: ServiceTool;
  readonly other: ServiceTool;
  /** The tool's tokens by scope. */
  readonly tokens: Readonly<Record<string, string>>;
  /** New tokens of the tool's, after the former were taken back. */
  renew(): Promise<void>;
  /** A token of the other tool's, for everything. */
  readonly othersToken: string;
  /** A course that nobody knows yet. */
  course(): { id: string; title: string };
  /** An instructor's launch into a course of its own. */
  launch(opened?: Partial<Launch>): Promise<Claims>;
  get(url: string, scope: string, accept: string): Promise<Reply>;
  items(url: string): Promise<Reply>;
  results(lineItem: string, query?: string): Promise<Reply>;
  members(url: string): Promise<Reply>;
  /** Writes a line item, or into the container of line items. */
  write(method: string, url: string, body?: unknown): Promise<Reply>;
  /** Each is newer than the one before, and of ben, unless `said` says otherwise. */
  score(lineItem: string, said: object): Promise<Reply>;
  stop(): Promise<void>;
}

export async function startServices(): Promise<Services> {
  const lms = await Lms.start();
  const [tool, other] = await Promise.all([startServiceTool(lms, 'tool'), startServiceTool(lms, 'other')]);
  const tokens: Record<string, string> = {};
  const renew = async () => {
    for (const scope of Object.values(SCOPE)) tokens[scope] = await tool.token([scope]);
  };
  await renew();
  let courses = 0;
  let seconds = 0;
  const course = () => ({ id: `course ${(courses += 1)}`, title: 'History' });
  const get: Services['get'] = (url, scope, accept) => call('GET', url, { ...bearer(tokens[scope]), accept });
  return {
    lms,
    tool,
    other,
    tokens,
    renew,
    othersToken: await other.token(Object.values(SCOPE)),
    course,
    launch: (opened) => tool.launch({ course: course(), user: { id: 'ada' }, roles: [INSTRUCTOR], ...opened }),
    get,
    items: (url) => get(url, SCOPE.lineItem, LINE_ITEMS),
    results: (lineItem, query = '') => get(`${lineItem}/results${query}`, SCOPE.result, RESULTS),
    members: (url) => get(url, SCOPE.members, MEMBERS),
    write: (method, url, body) => call(method, url, { ...bearer(tokens[SCOPE.lineItem]), 'content-type': LINE_ITEM }, body),
    score: (lineItem, said) => {
      const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, (seconds += 1))).toISOString();
      const body = { timestamp, userId: 'ben', activityProgress: 'Completed', gradingProgress: 'FullyGraded', ...said };
      const url = new URL(lineItem);
      url.pathname += '/scores';
      return call('POST', url, { ...bearer(tokens[SCOPE.score]), 'content-type': SCORE }, body);
    },
    stop: async () => {
      await Promise.all([lms.stop(), tool.stop(), other.stop()]);
    },
  };
}

export const bearer = (token = ''): { authorization: string } => ({ authorization: `Bearer ${token}` });

export const agsOf = (claims: Claims): { lineitems: string; lineitem?: string; scope: readonly string[] } =>
  claims[AGS] as { lineitems: string; lineitem?: string; scope: readonly string[] };

export const membersUrlOf = (claims: Claims): string =>
  (claims[NRPS] as { context_memberships_url: string }).context_memberships_url;

/** The address that follows. Headers are bytes: some platforms write UTF-8 there. A title may hold what looks like a link. */
export function next({ headers }: Reply): string | undefined {
  const link = Buffer.from(headers.get('link') ?? '', 'latin1')
    .toString('utf8')
    .replaceAll(/title="[^"]*"; /g, '');
  return /<([^<>]*)>;\s*rel=["“]?(?:prefetch )?next/.exec(link)?.[1];
}

/** Returns the user ids of a roster's page. */
export const ids = ({ body }: Reply): string[] => body.members.map(({ user_id }: { user_id: string }) => user_id);
