import { decodeJwt } from 'jose/jwt/decode';
import * as errors from 'jose/errors';
import { Problem } from '../../api/problem.ts';
import type { Tokens } from '../../access/tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { LaunchError } from '../launch-error.ts';
import { type FramedBy, frameAncestors } from './frame-ancestors.policy.ts';

/** `l.launch_token` contains the settings of a deep linking request. */
const FRAMED_BY = `
  SELECT l.return_url AS "returnUrl", l.platform_url AS "platformUrl", l.expires_at AS "expiresAt", l.launch_token AS "idToken",
    l.answered_at AS "answeredAt", p.issuer, p.auth_endpoint AS "authEndpoint", p.frame_ancestors AS "frameAncestors"
  FROM lti_launches l JOIN lti_platforms p ON p.id = l.platform_id
  WHERE l.launch_id = $1`;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * How a page of a launch is opened: with its application JWT or, on a reload after the page has removed that from its address,
 * with the launch's id.
 */
export interface OpenedBy {
  readonly token: string | undefined;
  readonly launch: string | undefined;
}

/** The values of a launch that its pages need. */
export interface FramedLaunch {
  /** Sources of `frame-ancestors`. */
  readonly ancestors: string;
  readonly idToken: string | null;
  readonly answeredAt: Date | null;
  /**
   * The language that the LMS shows (LTI Core 1.3 §5.4.4), otherwise the person's (OpenID Connect Core §5.1); undefined: it names
   * none.
   */
  readonly locale: string | undefined;
}

/** Finds the launches that pages are opened for. */
export class FramedLaunches {
  readonly #db: Database;
  readonly #tokens: Tokens;
  readonly #clock: Clock;

  constructor(deps: { db: Database; tokens: Tokens; clock: Clock }) {
    this.#db = deps.db;
    this.#tokens = deps.tokens;
    this.#clock = deps.clock;
  }

  /** Takes one statement. Throws LaunchError `entry_…`. */
  async find({ token, launch }: OpenedBy): Promise<FramedLaunch> {
    const launchId = token ? await this.#launchOf(token) : launch;
    if (!launchId) throw new LaunchError('entry_token_missing');
    if (!UUID.test(launchId)) throw new LaunchError('entry_token_invalid');
    const [row] = await this.#db.prepared<Row>('lti-framed-by', FRAMED_BY, [launchId]);
    if (!row) throw new LaunchError('entry_token_invalid');
    if (row.expiresAt !== null && row.expiresAt <= this.#clock.now()) throw new LaunchError('entry_expired');
    return { ancestors: frameAncestors(row), idToken: row.idToken, answeredAt: row.answeredAt, locale: localeIn(row.idToken) };
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
}

const PRESENTATION = 'https://purl.imsglobal.org/spec/lti/claim/launch_presentation';

/** `idToken`: verified on receipt. */
function localeIn(idToken: string | null): string | undefined {
  if (idToken === null) return undefined;
  const { [PRESENTATION]: presentation, locale } = decodeJwt<{ [PRESENTATION]?: { locale?: unknown } | null; locale?: unknown }>(
    idToken,
  );
  return [presentation?.locale, locale].find((one): one is string => typeof one === 'string' && one !== '');
}

interface Row extends FramedBy {
  readonly expiresAt: Date | null;
  readonly idToken: string | null;
  readonly answeredAt: Date | null;
}
