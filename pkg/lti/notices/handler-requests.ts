import type { JobRequests } from '../../events/job-requests.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { LaunchContext, NewLaunch } from '../launch/launch.sql.ts';
import { REGISTER_HANDLER } from './notices.jobs.ts';
import { askHandler } from './handlers.sql.ts';

/**
 * Asks a platform that sends notices to send them to our address: once for each deployment, in a job, so that no launch waits.
 */
export class HandlerRequests {
  readonly #jobs: JobRequests;
  readonly #handler: string;

  /** `ltiUrl`: without a slash at the end. */
  constructor(deps: { jobs: JobRequests; ltiUrl: string }) {
    this.#jobs = deps.jobs;
    this.#handler = `${deps.ltiUrl}/notices`;
  }

  /** No statement if the deployment was already asked. */
  async sync(tx: Tx, { isHandlerAsked }: LaunchContext, { registration: { toolId }, message }: NewLaunch): Promise<void> {
    const { noticesUrl, deploymentId } = message;
    if (isHandlerAsked || noticesUrl === undefined) return;
    if (!(await askHandler(tx, toolId, deploymentId, noticesUrl))) return;
    await this.#jobs.request(tx, REGISTER_HANDLER, { tool: toolId, deployment: deploymentId, handler: this.#handler });
  }
}
