import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  countDecided,
  type DeploymentRow,
  findDeployment,
  findTool,
  isOfAnother,
  listDeployments,
  writeDecision,
} from './deployment-list.sql.ts';
import { lockPolicy, reportChange } from './deployment-requests.sql.ts';
import type { Decision, DeploymentQuery, DeploymentView } from './deployments.schema.ts';

/** Maximum of decisions per registration: the status of its resource shows them, and its reconcile reads them. */
const DECIDED_MAX = 1_000;

/**
 * The deployments of registrations; administrators see them and decide on them.
 *
 * Invariants:
 * - Only a registration with `deploymentPolicy: Confirm` accepts decisions, but none on deployments that its resource lists.
 * - A decision takes effect with the next launch.
 */
export class Deployments {
  readonly #db: Database;

  constructor(deps: { db: Database }) {
    this.#db = deps.db;
  }

  /** Takes two statements. Throws Problem not_found. */
  async list(registration: string, query: DeploymentQuery): Promise<Page<DeploymentView>> {
    const tool = await findTool(this.#db.tables, registration);
    if (!tool) throw new Problem('not_found');
    return listDeployments(this.#db.tables, tool, query, present);
  }

  /** Repeating a decision changes nothing. One transaction. Throws Problem not_found, conflict, managed. */
  async decide(registration: string, { deployment_id: deploymentId, status }: Decision): Promise<DeploymentView> {
    return this.#db.transaction(async (tx) => {
      const tool = await findTool(tx, registration);
      const policy = tool && (await lockPolicy(tx, tool));
      if (!tool || !policy) throw new Problem('not_found');
      if (policy !== 'Confirm')
        throw new Problem('conflict', 'This registration lists its deployments: its deploymentPolicy is not Confirm.');
      const before = await findDeployment(tx, tool, deploymentId);
      if (before?.status === status || (before?.status === 'listed' && status === 'admitted')) return present(before);
      if (before?.status === 'listed')
        throw new Problem('managed', 'The resource of the registration lists this deployment; change it there.');
      if ((!before || before.status === 'waiting') && (await countDecided(tx, tool)) >= DECIDED_MAX)
        throw new Problem(
          'conflict',
          `${DECIDED_MAX} deployments of this registration were admitted or refused; list some in its resource.`,
        );
      if (status === 'admitted' && (await isOfAnother(tx, tool, deploymentId)))
        throw new Problem(
          'conflict',
          'Another registration with this issuer and client id has this deployment; remove it there first.',
        );
      await writeDecision(tx, tool, { deploymentId, status });
      await reportChange(tx);
      const after = await findDeployment(tx, tool, deploymentId);
      if (!after) throw new Problem('not_found');
      return present(after);
    });
  }
}

const present = (row: DeploymentRow): DeploymentView => ({
  deployment_id: row.deploymentId,
  status: row.status,
  may_launch: row.mayLaunch,
  launches: row.launches,
  first_seen_at: row.firstSeenAt?.toISOString() ?? null,
  last_seen_at: row.lastSeenAt?.toISOString() ?? null,
  decided_at: row.decidedAt?.toISOString() ?? null,
});
