import { type Endpoint, endpoint, reply } from '../api/endpoint.ts';
import { GranteePage, GranteeQuery } from './grantees.schema.ts';
import type { Grantees } from './grantees.service.ts';

export const granteeEndpoints = (grantees: Grantees): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/grantees',
    operationId: 'listGrantees',
    summary: 'Find people and groups to grant access to: for administrators all, for others those whom they know',
    tag: 'permissions',
    caller: { permission: 'share:files' },
    query: GranteeQuery,
    replies: { 200: GranteePage },
    handle: async ({ actor, query }) => reply(200, await grantees.list(actor, query)),
  }),
];
