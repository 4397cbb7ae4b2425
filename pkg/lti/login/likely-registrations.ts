import type { Database } from '../../store/postgres/database.ts';
import { audiencesOf, LTI, storable, unverifiedIssuer, type UnverifiedToken } from '../launch/id-token.ts';
import { activeOfIssuer, type Registration } from './active-registrations.sql.ts';

/**
 * The active registrations that a token may be of, by the issuer, the audience and the deployment that it names. Nothing of it is
 * proved: this selects only which registered origin is asked or linked. One statement.
 */
export async function likelyRegistrations(db: Database, token: UnverifiedToken): Promise<readonly Registration[]> {
  const { aud, [`${LTI}/deployment_id`]: deployment } = token.claims;
  const ofIssuer = await activeOfIssuer(db, unverifiedIssuer(token), storable(deployment));
  const audiences = audiencesOf(aud);
  const ofClient = orAll(ofIssuer, ({ clientId }) => audiences.includes(clientId));
  return orAll(ofClient, ({ isDeployed }) => isDeployed);
}

function orAll<T>(all: readonly T[], isMeant: (one: T) => boolean): readonly T[] {
  const meant = all.filter(isMeant);
  return meant.length > 0 ? meant : all;
}
