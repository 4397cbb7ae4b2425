import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { HandInView, NewHandIn } from './hand-ins.schema.ts';
import type { HandIns } from './hand-ins.service.ts';

const OfLaunch = z.object({ launch_id: Uuid });

export const handInEndpoints = (handIns: HandIns): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/lti/launches/{launch_id}/hand-in',
    operationId: 'handIn',
    summary: 'Hand in the current version of a file of your own at the link that you have launched',
    tag: 'lti',
    caller: { permission: 'write:files' },
    params: OfLaunch,
    body: NewHandIn,
    replies: { 201: HandInView },
    errors: ['not_found', 'forbidden'],
    idempotent: true,
    handle: async ({ actor, params, body }) => reply(201, await handIns.handIn(actor, params.launch_id, body.file_id)),
  }),
  endpoint({
    method: 'get',
    path: '/lti/launches/{launch_id}/hand-in',
    operationId: 'getHandIn',
    summary: 'Show the last hand-in at the link: your own, or in a submission review that of the reviewed person',
    tag: 'lti',
    caller: 'user',
    params: OfLaunch,
    replies: { 200: HandInView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => reply(200, await handIns.show(actor, params.launch_id)),
  }),
];
