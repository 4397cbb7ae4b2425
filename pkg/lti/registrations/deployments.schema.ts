import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { text, Timestamp } from '../../api/schemas.ts';

const ID_MAX = 255;
const STATUSES = ['listed', 'waiting', 'admitted', 'refused'] as const;
const Status = z
  .enum(STATUSES)
  .describe('listed: in the resource of the registration; waiting: for an administrator, who has admitted or refused the others');

/**
 * A deployment of a registration: one that its resource lists, or, with `deploymentPolicy: Confirm`, one that launched or was
 * decided on.
 */
export const DeploymentView = z
  .object({
    deployment_id: z.string().meta({ description: 'as the LMS sends it', example: '8865aa05b4b79b64a91a86042e43af5ea8ae79eb' }),
    status: Status,
    may_launch: z
      .boolean()
      .describe('also false for a deployment that was admitted before its registration began to list its deployments'),
    launches: z.int().describe('refused launches, and refused notices').meta({ example: 3 }),
    first_seen_at: Timestamp.nullable(),
    last_seen_at: Timestamp.nullable(),
    decided_at: Timestamp.nullable(),
  })
  .meta({ id: 'LtiDeployment' });
export type DeploymentView = z.output<typeof DeploymentView>;

export const DeploymentPage = pageOf(DeploymentView).meta({ id: 'LtiDeploymentPage' });
export const DEPLOYMENT_SORT_FIELDS = ['deployment_id', 'first_seen_at', 'last_seen_at'] as const;
export const DeploymentQuery = z.object({ ...pageQueryOf(DEPLOYMENT_SORT_FIELDS), status: Status.optional() });
export type DeploymentQuery = z.output<typeof DeploymentQuery>;

/** The id is in the body, not in the path: it is any text, such as `..`, which no path can contain. */
export const Decision = z.object({
  deployment_id: text(1, ID_MAX).meta({
    description: 'it need not have launched',
    example: '8865aa05b4b79b64a91a86042e43af5ea8ae79eb',
  }),
  status: z.enum(['admitted', 'refused']),
});
export type Decision = z.output<typeof Decision>;
