import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import type { DynamicRegistration } from '../dynamic-registration/dynamic-registration.service.ts';
import { Decision, DeploymentPage, DeploymentQuery, DeploymentView } from './deployments.schema.ts';
import type { Deployments } from './deployments.service.ts';
import {
  NewRegistrationLink,
  RegistrationLink,
  RegistrationPage,
  RegistrationQuery,
  RegistrationView,
} from './registrations.schema.ts';
import type { Registrations } from './registrations.service.ts';

const WRITE = { tag: 'lti', caller: { permission: 'write:registrations' } } as const;
const READ = { tag: 'lti', caller: { permission: 'read:registrations' } } as const;

export const registrationEndpoints = (
  registrations: Registrations,
  deployments: Deployments,
  dynamic: DynamicRegistration,
): Endpoint[] => [
  endpoint({
    ...READ,
    method: 'get',
    path: '/lti/registrations',
    operationId: 'listRegistrations',
    summary: 'List the registrations of LMSs, with the values to enter there',
    query: RegistrationQuery,
    replies: { 200: RegistrationPage },
    handle: async ({ query }) => reply(200, await registrations.list(query)),
  }),
  endpoint({
    ...READ,
    method: 'get',
    path: '/lti/registrations/{id}',
    operationId: 'getRegistration',
    summary: 'Show a registration of an LMS, and the agreement of its Dynamic Registration',
    params: z.object({ id: Uuid }),
    replies: { 200: RegistrationView },
    errors: ['not_found'],
    handle: async ({ params }) => tagged(200, await registrations.get(params.id)),
  }),
  endpoint({
    ...READ,
    method: 'get',
    path: '/lti/registrations/{id}/deployments',
    operationId: 'listDeployments',
    summary: 'List the deployments of a registration: those that are listed, that wait, and that were admitted or refused',
    params: z.object({ id: Uuid }),
    query: DeploymentQuery,
    replies: { 200: DeploymentPage },
    errors: ['not_found'],
    handle: async ({ params, query }) => reply(200, await deployments.list(params.id, query)),
  }),
  endpoint({
    ...WRITE,
    method: 'post',
    path: '/lti/registrations/{id}/deployments',
    operationId: 'decideDeployment',
    summary: 'Admit a deployment of an LMS, so that it may launch, or refuse it (deploymentPolicy Confirm)',
    params: z.object({ id: Uuid }),
    body: Decision,
    replies: { 200: DeploymentView },
    errors: ['not_found', 'conflict', 'managed'],
    idempotent: true,
    handle: async ({ params, body }) => reply(200, await deployments.decide(params.id, body)),
  }),
  endpoint({
    ...WRITE,
    method: 'post',
    path: '/lti/registration-links',
    operationId: 'createRegistrationLink',
    summary: 'Create an address for registering one LMS within 24 hours (LTI Dynamic Registration); shown only once',
    body: NewRegistrationLink,
    replies: { 201: RegistrationLink },
    errors: ['conflict'],
    idempotent: 'sealed',
    handle: async ({ actor, body }) => reply(201, await dynamic.createLink(actor, body)),
  }),
];
