import type { Database } from '../../store/postgres/database.ts';
import { LaunchError } from '../launch-error.ts';
import { type DeploymentPolicy, recordRequest, type RegisteredTool } from '../registrations/deployment-requests.sql.ts';
import { noteUnknownDeployment } from './unknown-deployments.sql.ts';

type Undeployed = RegisteredTool & { readonly deploymentPolicy: DeploymentPolicy };

/**
 * Returns the reason why a deployment may not launch. Only for a verified id_token: it leaves a note for the operator, or with
 * `Confirm` a request for administrators. One statement; with `Confirm`, a transaction for a deployment that was not seen before.
 */
export async function refusalOfDeployment(db: Database, registration: Undeployed, deploymentId: string): Promise<LaunchError> {
  const its = `Its id is ${deploymentId}`;
  if (registration.deploymentPolicy === 'Confirm') {
    const request = await recordRequest(db, registration, deploymentId);
    if (request === 'refused') return new LaunchError('deployment_refused', `${its}.`);
    if (request === 'full')
      return new LaunchError(
        'deployment_waiting',
        `${its}; the list of waiting deployments is full. Tell an administrator of this service.`,
      );
    if (request !== 'listed')
      return new LaunchError('deployment_waiting', `${its}. Once it is admitted, open the link in your course again.`);
  } else await noteUnknownDeployment(db.tables, registration.toolId, deploymentId);
  return new LaunchError('unknown_deployment', `${its}; add it to deploymentIds of the registration.`);
}
