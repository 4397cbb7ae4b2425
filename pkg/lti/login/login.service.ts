import type { Database } from '../../store/postgres/database.ts';
import { requireTarget } from '../launch/id-token.ts';
import type { Begun, LoginStates } from './login-state.ts';
import { LaunchError } from '../launch-error.ts';
import { activeOfIssuer, type Registration } from './active-registrations.sql.ts';
import type { UnknownValues } from './unknown-values.ts';

/**
 * Parameters of docs/design/lti.md, A launch. LTI Core and OIDC add `client_id`, LTI Core also `lti_deployment_id`, which the
 * id_token proves later.
 */
export interface LoginInitiation {
  readonly iss: string | undefined;
  readonly loginHint: string | undefined;
  readonly targetLinkUri: string | undefined;
  readonly ltiMessageHint: string | undefined;
  readonly clientId: string | undefined;
  /** Used only if issuer and client id match several registrations. */
  readonly deploymentId: string | undefined;
  /** The frame that offers platform storage (1EdTech LTI OIDC Login with LTI Client Side postMessages). */
  readonly storageTarget: string | undefined;
  readonly cookies: ReadonlyMap<string, string>;
}

/** Login initiation: answers an LMS that wants to launch with the authentication request. */
export class Logins {
  readonly #db: Database;
  readonly #states: LoginStates;
  readonly #unknown: UnknownValues;
  readonly #redirectUri: string;
  readonly #origins: ReadonlySet<string>;

  constructor(deps: {
    db: Database;
    states: LoginStates;
    unknown: UnknownValues;
    redirectUri: string;
    origins: ReadonlySet<string>;
  }) {
    this.#db = deps.db;
    this.#unknown = deps.unknown;
    this.#states = deps.states;
    this.#redirectUri = deps.redirectUri;
    this.#origins = deps.origins;
  }

  /**
   * Returns the address for the browser (docs/design/lti.md, A launch), the cookies that bind the launch to it, and the value to
   * put into the platform's storage first. One statement; up to two more if no registration matches. Throws LaunchError.
   */
  async begin(initiation: LoginInitiation): Promise<Pick<Begun, 'cookies' | 'put'> & { readonly location: URL }> {
    const { iss, loginHint, targetLinkUri, ltiMessageHint } = initiation;
    if (!iss) throw new LaunchError('iss_missing');
    if (!loginHint) throw new LaunchError('login_hint_missing');
    requireTarget(targetLinkUri, this.#origins);
    const registration = await this.#registration(iss, initiation);
    const { state, nonce, cookies, put } = this.#states.begin(registration.toolId, initiation.cookies, initiation.storageTarget);
    const location = new URL(registration.authEndpoint);
    const parameters = {
      response_type: 'id_token',
      response_mode: 'form_post',
      client_id: registration.clientId,
      redirect_uri: this.#redirectUri,
      scope: registration.scope,
      login_hint: loginHint,
      ...(ltiMessageHint === undefined ? {} : { lti_message_hint: ltiMessageHint }),
      nonce,
      state,
      prompt: 'none',
    };
    for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
    return { location, cookies, put };
  }

  /** Selects by issuer, then by client id and, if several LMSs share both, by deployment. */
  async #registration(issuer: string, { clientId, deploymentId }: LoginInitiation): Promise<Registration> {
    const active = await activeOfIssuer(this.#db, issuer, deploymentId);
    const [first] = active;
    if (!first) {
      await this.#unknown.noteIssuer(issuer);
      throw new LaunchError('issuer_unknown');
    }
    if (!clientId && active.length > 1) throw new LaunchError('client_id_needed');
    const candidates = clientId ? active.filter((one) => one.clientId === clientId) : active;
    const [registration, another] = candidates;
    if (!registration) {
      await this.#unknown.note(first.toolId, 'client_id', clientId ?? '', 'login');
      throw new LaunchError('client_id_unknown');
    }
    if (!another) return registration;
    if (!deploymentId) throw new LaunchError('deployment_id_needed');
    const [its, ambiguous] = candidates.filter(({ isDeployed }) => isDeployed);
    if (its && !ambiguous) return its;
    await this.#unknown.note(registration.toolId, 'lti_deployment_id', deploymentId, 'login');
    throw new LaunchError('deployment_undecided');
  }
}
