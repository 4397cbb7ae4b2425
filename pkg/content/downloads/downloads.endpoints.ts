import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import type { Downloads } from './downloads.service.ts';

const params = z.object({ id: Uuid });
const ANY_CONTENT = { stream: '*/*' };

export const downloadEndpoints = (downloads: Downloads): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/files/{id}/download',
    operationId: 'downloadFile',
    summary: "Download a file's content, whole or one range of it",
    tag: 'files',
    caller: { permission: 'read:files' },
    params,
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT, 304: null },
    errors: ['not_found', 'range_not_satisfiable', 'too_many_transfers'],
    handle: ({ actor, params, request }) => downloads.open(actor, params.id, request),
  }),
];
