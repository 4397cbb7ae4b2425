import { etagOf } from '../../api/etag.ts';
import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { RegistrationQuery, RegistrationView } from './registrations.schema.ts';
import { findRegistration, listRegistrations, type RegistrationRow } from './registration-list.sql.ts';

interface Deps {
  readonly db: Database;
  /** Addresses of the tenant, without a slash at the end. */
  readonly appUrl: string;
  readonly ltiUrl: string;
}

/**
 * The registrations of LMSs, for administrators.
 *
 * Invariants:
 * - They are read only: a resource makes each of them.
 * - No reply contains a private key.
 */
export class Registrations {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Takes one statement. */
  list(query: RegistrationQuery): Promise<Page<RegistrationView>> {
    return listRegistrations(this.#deps.db, query, (row) => this.#present(row));
  }

  /** Takes one statement. Throws Problem not_found. */
  async get(id: string): Promise<RegistrationView> {
    const row = await findRegistration(this.#deps.db.tables, id);
    if (!row) throw new Problem('not_found');
    return this.#present(row);
  }

  /** The tag covers everything shown, because keys and deployments are separate rows. */
  #present(row: RegistrationRow): RegistrationView {
    const { appUrl, ltiUrl } = this.#deps;
    const shown = {
      id: row.uuid,
      name: row.name,
      client_id: row.clientId,
      issuer: row.issuer ?? '',
      platform_name: row.platformName,
      deployment_ids: [...row.deploymentIds],
      deployment_policy: row.deploymentPolicy,
      waiting_deployments: row.waitingDeployments,
      scope: row.scope,
      is_active: row.isActive,
      managed_by: row.managedBy,
      managed_ref: row.managedRef,
      login_initiation_url: `${ltiUrl}/login_initiation`,
      redirect_uri: `${ltiUrl}/launch`,
      launch_url: `${appUrl}/lti/launch`,
      jwks_url: `${ltiUrl}/.well-known/jwks.json`,
      public_key_ids: [...row.publicKeyIds],
      registered:
        row.agreement === null || row.registeredAt === null
          ? null
          : {
              at: row.registeredAt.toISOString(),
              product: row.agreement.product,
              scopes_asked: [...row.agreement.scopes_asked],
              scopes_granted: [...row.agreement.scopes_granted],
              placements: [...row.agreement.placements],
              pending: !row.hasLaunched,
            },
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
    };
    return { ...shown, etag: etagOf('registration', row.uuid, JSON.stringify(shown)) };
  }
}
