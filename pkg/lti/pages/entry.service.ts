import { errors } from 'jose';
import type { PageReply, WebPages } from '../../api/page.ts';
import { Problem } from '../../api/problem.ts';
import type { Tokens } from '../../access/tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type FramedBy, frameAncestors } from './frame-ancestors.policy.ts';
import { LaunchError } from '../launch-error.ts';

const FRAMED_BY = `
  SELECT l.return_url AS "returnUrl", l.platform_url AS "platformUrl", l.expires_at AS "expiresAt",
    p.issuer, p.auth_endpoint AS "authEndpoint", p.frame_ancestors AS "frameAncestors"
  FROM lti_launches l JOIN lti_platforms p ON p.id = l.platform_id
  WHERE l.launch_id = $1`;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Where a launch arrives: the page of the course (docs/design/lti.md, A launch).
 *
 * Invariants:
 * - The page holds nothing of anybody's: what it shows it asks the API for, with the token that it was opened with.
 * - Only the LMS that launched, and what its registration lists, may frame it.
 */
export class Entries {
  readonly #db: Database;
  readonly #tokens: Tokens;
  readonly #web: WebPages;
  readonly #clock: Clock;

  constructor(deps: { db: Database; tokens: Tokens; web: WebPages; clock: Clock }) {
    this.#db = deps.db;
    this.#tokens = deps.tokens;
    this.#web = deps.web;
    this.#clock = deps.clock;
  }

  /**
   * `token`: the application JWT. `launch`: the id in the page's address after it removed the token, for a reload.
   * One statement. Throws LaunchError `entry_…`, PageProblem `web_not_built`.
   */
  async open({ token, launch }: { token: string | undefined; launch: string | undefined }): Promise<PageReply> {
    const launchId = token ? await this.#launchOf(token) : launch;
    if (!launchId) throw new LaunchError('entry_token_missing');
    const ancestors = await this.#frameAncestors(launchId);
    const body = '<div id="app"></div><noscript><main><p>This page needs JavaScript. Allow scripts for this service.</p></main></noscript>';
    return {
      status: 200,
      body: this.#web.document('entry', { title: 'Course files', body }),
      headers: { 'content-security-policy': csp(ancestors) },
    };
  }

  async #launchOf(token: string): Promise<string> {
    try {
      const { launchId } = await this.#tokens.verify(token);
      if (launchId !== undefined) return launchId;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new LaunchError(error.cause instanceof errors.JWTExpired ? 'entry_expired' : 'entry_token_invalid', undefined, {
        cause: error,
      });
    }
    throw new LaunchError('entry_token_invalid');
  }

  async #frameAncestors(launchId: string): Promise<string> {
    if (!UUID.test(launchId)) throw new LaunchError('entry_token_invalid');
    const [row] = await this.#db.prepared<FramedBy & { expiresAt: Date | null }>('lti-framed-by', FRAMED_BY, [launchId]);
    if (!row) throw new LaunchError('entry_token_invalid');
    if (row.expiresAt !== null && row.expiresAt <= this.#clock.now()) throw new LaunchError('entry_expired');
    return frameAncestors(row);
  }
}

const csp = (ancestors: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}; require-trusted-types-for 'script'`;
