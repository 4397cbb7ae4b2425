import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { MetadataEntry, MetadataKey, MetadataPage, MetadataQuery, NewMetadata } from './metadata.schema.ts';
import type { Metadata } from './metadata.service.ts';

const ByKey = z.object({ id: Uuid, key: MetadataKey });

export const metadataEndpoints = (metadata: Metadata): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/files/{id}/metadata',
    operationId: 'listFileMetadata',
    summary: 'List the metadata of a file; a page of more than 4 MiB ends early',
    tag: 'metadata',
    caller: { permission: 'read:files' },
    params: z.object({ id: Uuid }),
    query: MetadataQuery,
    replies: { 200: MetadataPage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await metadata.list(actor, params.id, query)),
  }),
  endpoint({
    method: 'put',
    path: '/files/{id}/metadata/{key}',
    operationId: 'putFileMetadata',
    summary: 'Set a metadata entry of a file; 201 if it had none with this key',
    tag: 'metadata',
    caller: { permission: 'write:files' },
    params: ByKey,
    body: NewMetadata,
    replies: { 200: MetadataEntry, 201: MetadataEntry },
    errors: ['not_found', 'forbidden', 'conflict', 'precondition_failed', 'quota_exceeded', 'value_type_mismatch'],
    idempotent: true,
    handle: async ({ actor, params, body, request }) => {
      const { created, entry } = await metadata.put(actor, params.id, params.key, body, request.ifMatch);
      return tagged(created ? 201 : 200, entry);
    },
  }),
  endpoint({
    method: 'delete',
    path: '/files/{id}/metadata/{key}',
    operationId: 'deleteFileMetadata',
    summary: 'Delete a metadata entry of a file',
    tag: 'metadata',
    caller: { permission: 'write:files' },
    params: ByKey,
    replies: { 204: null },
    errors: ['not_found', 'forbidden', 'precondition_failed'],
    handle: async ({ actor, params, request }) => {
      await metadata.remove(actor, params.id, params.key, request.ifMatch);
      return reply(204);
    },
  }),
];
