import type * as crds from '../../crds/types.generated.ts';
import { LTIREGISTRATIONS, TENANTS, WEBHOOKS } from '../../crds/types.generated.ts';
import { defineKind, type Json, type Observed } from '../kube/object.ts';

/** The custom resources as they travel; their fields are described in crds/. */
export type Tenant = Json<crds.Tenant>;
export type LtiRegistration = Json<crds.LtiRegistration>;
export type Webhook = Json<crds.Webhook>;
export type { LtiRegistrationStatus, TenantSpec, TenantStatus, WebhookStatus } from '../../crds/types.generated.ts';

/** A Tenant from the API server: with the defaults of its schema, a uid and a generation. */
export type ObservedTenant = Observed<Tenant>;

export const TENANT = defineKind<Tenant>(TENANTS);
export const LTI_REGISTRATION = defineKind<LtiRegistration>(LTIREGISTRATIONS);
export const WEBHOOK = defineKind<Webhook>(WEBHOOKS);
