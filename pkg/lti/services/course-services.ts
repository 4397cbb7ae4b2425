import { Problem } from '../../api/problem.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Executor } from '../../store/postgres/database.ts';
import type { ContextRow } from '../contexts/contexts.sql.ts';
import { SCOPES } from '../contexts/services.policy.ts';
import type { LmsCalls, Operation, OperationLimits } from './lms-calls.ts';
import { problemOfError, type Service, serviceMissing } from './lms-problems.policy.ts';
import type { Clock } from '../../runtime/clock.ts';
import { findServiceRegistration, serviceClient } from './service-client.ts';

/** The container of a course's line items, ready to be asked. */
export interface LineItemService {
  readonly url: string;
  readonly toolId: number;
  readonly operation: Operation;
}

/** The roster of a course, ready to be asked. */
export interface RosterService {
  readonly url: string;
  readonly operation: Operation;
}

/** NRPS 2.0 §3.1; the claim of a launch names no scope. */
const MEMBERS: Service = { name: 'members', scope: 'https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly' };

const NO_LAUNCH = 'Nobody has launched from this course in the last 90 days';

/**
 * Returns the LMS's address of a course's roster, according to its last launch. Throws Problem `lms_service_missing`,
 * `registration_inactive`.
 */
export function requireRoster({ rosterUrl: url, toolId, isActive }: ContextRow): {
  readonly url: string;
  readonly toolId: number;
} {
  if (toolId === null) throw serviceMissing(MEMBERS, NO_LAUNCH);
  if (!isActive) throw new Problem('registration_inactive');
  if (url === null)
    throw serviceMissing(MEMBERS, 'The last launch of this course named no address of members (context_memberships_url)');
  return { url, toolId };
}

interface Deps {
  readonly sql: Executor;
  readonly tenant: { readonly slug: string; readonly id: string };
  readonly sealer: Sealer;
  readonly calls: LmsCalls;
  readonly clock: Clock;
}

/**
 * The services that the LMS offers in a course, as operations that ask for them. Each takes one statement, and throws Problem
 * `registration_inactive`, `lms_service_missing`. Reading asks for the read-only scope if it is offered.
 */
export class CourseServices {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async lineItems(context: ContextRow, access: 'read' | 'write', signal?: AbortSignal): Promise<LineItemService> {
    const { lineItemsUrl: url, toolId } = context;
    const service = lineItemService(context, access);
    if (toolId === null) throw serviceMissing(service, NO_LAUNCH);
    const operation = await this.#begin(toolId, service, context, signal);
    if (url === null) throw serviceMissing(service, 'The last launch of this course named no address of line items (lineitems)');
    return { url, toolId, operation };
  }

  /** Begins an operation on a line item that the registration `toolId` knows. */
  lineItem(
    context: ContextRow,
    { toolId }: { readonly toolId: number },
    access: 'read' | 'write',
    signal?: AbortSignal,
  ): Promise<Operation> {
    return this.#begin(toolId, lineItemService(context, access), context, signal);
  }

  results(context: ContextRow, { toolId }: { readonly toolId: number }, signal: AbortSignal): Promise<Operation> {
    return this.#begin(toolId, { name: 'results', scope: SCOPES.results }, context, signal);
  }

  async roster(context: ContextRow, signal: AbortSignal, limits?: OperationLimits): Promise<RosterService> {
    const { url, toolId } = requireRoster(context);
    return { url, operation: await this.#begin(toolId, MEMBERS, { ...context, scopes: [MEMBERS.scope] }, signal, limits) };
  }

  async #begin(
    toolId: number,
    service: Service,
    context: ContextRow,
    signal?: AbortSignal,
    limits?: OperationLimits,
  ): Promise<Operation> {
    const { sql, tenant, sealer, calls, clock } = this.#deps;
    const deploymentId = toolId === context.toolId ? context.deploymentId : null;
    const registration = await findServiceRegistration(sql, toolId, { deploymentId, platformId: context.platformId });
    if (!registration?.isActive) throw new Problem('registration_inactive');
    if (!context.scopes.includes(service.scope)) throw serviceMissing(service, 'The last launch of this course did not allow it');
    try {
      const client = serviceClient(tenant.slug, registration, () => Promise.resolve({ tenantId: tenant.id, sealer }));
      return calls.begin(client, service, signal, limits);
    } catch (error) {
      throw problemOfError(error, service, { now: clock.now(), isWriting: false });
    }
  }
}

function lineItemService({ scopes }: ContextRow, access: 'read' | 'write'): Service {
  const isReadOnly = access === 'read' && scopes.includes(SCOPES.lineItemsReadOnly);
  return { name: 'line items', scope: isReadOnly ? SCOPES.lineItemsReadOnly : SCOPES.lineItems };
}
