import type { Database } from '../../store/postgres/database.ts';
import { audiencesOf, LTI, storable, unverifiedIssuer, type UnverifiedToken } from '../launch/id-token.ts';
import { activeOfIssuer, type Registration } from './active-registrations.sql.ts';

/**
 * Returns the active registrations that a token may belong to, by its issuer, audience and deployment. These are unverified: they
 * only select the registered origin to ask or link. One statement.
 */
export async function likelyRegistrations(db: Database, token: UnverifiedToken): Promise<readonly Registration[]> {
  const { aud, [`${LTI}/deployment_id`]: deployment } = token.claims;
  const sameIssuer = await activeOfIssuer(db, unverifiedIssuer(token), storable(deployment));
  const audiences = audiencesOf(aud);
  const sameClient = orAll(sameIssuer, ({ clientId }) => audiences.includes(clientId));
  return orAll(sameClient, ({ isDeployed }) => isDeployed);
}

function orAll<T>(all: readonly T[], isMeant: (one: T) => boolean): readonly T[] {
  const meant = all.filter(isMeant);
  return meant.length > 0 ? meant : all;
}
