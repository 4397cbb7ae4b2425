import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { NewTag, TagChanges, TagPage, TagQuery, TagView } from './tags.schema.ts';
import type { Tags } from './tags.service.ts';

const ById = z.object({ id: Uuid });
const OWN = { tag: 'tags', caller: 'user' } as const;
const CHANGE = { ...OWN, params: ById, body: TagChanges, replies: { 200: TagView }, idempotent: true } as const;
const CHANGE_ERRORS = ['not_found', 'name_conflict', 'precondition_failed'] as const;
const OF_FILE = { tag: 'tags', caller: { permission: 'read:files' } } as const;
const Link = z.object({ id: Uuid, tag_id: Uuid });

export const tagEndpoints = (tags: Tags): Endpoint[] => [
  endpoint({
    ...OWN,
    method: 'get',
    path: '/tags',
    operationId: 'listTags',
    summary: "List the caller's tags",
    query: TagQuery,
    replies: { 200: TagPage },
    handle: async ({ actor, query }) => reply(200, await tags.list(actor, query)),
  }),
  endpoint({
    ...OWN,
    method: 'post',
    path: '/tags',
    operationId: 'createTag',
    summary: 'Create a tag for the caller',
    body: NewTag,
    replies: { 201: TagView },
    errors: ['name_conflict', 'quota_exceeded'],
    idempotent: true,
    handle: async ({ actor, body }) => tagged(201, await tags.create(actor, body)),
  }),
  endpoint({
    ...OWN,
    method: 'get',
    path: '/tags/{id}',
    operationId: 'getTag',
    summary: 'Show a tag',
    params: ById,
    replies: { 200: TagView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => tagged(200, await tags.get(actor, params.id)),
  }),
  endpoint({
    ...CHANGE,
    method: 'put',
    path: '/tags/{id}',
    operationId: 'putTag',
    summary: 'Change fields of a tag, as PATCH does',
    errors: CHANGE_ERRORS,
    handle: async ({ actor, params, body, request }) => tagged(200, await tags.change(actor, params.id, body, request.ifMatch)),
  }),
  endpoint({
    ...CHANGE,
    method: 'patch',
    path: '/tags/{id}',
    operationId: 'updateTag',
    summary: 'Change name or colour of a tag',
    errors: CHANGE_ERRORS,
    handle: async ({ actor, params, body, request }) => tagged(200, await tags.change(actor, params.id, body, request.ifMatch)),
  }),
  endpoint({
    ...OWN,
    method: 'delete',
    path: '/tags/{id}',
    operationId: 'deleteTag',
    summary: 'Delete a tag; its files stay',
    params: ById,
    replies: { 204: null },
    errors: ['not_found', 'precondition_failed'],
    handle: async ({ actor, params, request }) => {
      await tags.remove(actor, params.id, request.ifMatch);
      return reply(204);
    },
  }),
  endpoint({
    ...OF_FILE,
    method: 'get',
    path: '/files/{id}/tags',
    operationId: 'listFileTags',
    summary: "List the caller's tags on a file",
    params: ById,
    query: TagQuery,
    replies: { 200: TagPage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await tags.listOfFile(actor, params.id, query)),
  }),
  endpoint({
    ...OF_FILE,
    method: 'put',
    path: '/files/{id}/tags/{tag_id}',
    operationId: 'tagFile',
    summary: 'Add a tag to a file; a file that has it keeps it',
    params: Link,
    replies: { 204: null },
    errors: ['not_found', 'quota_exceeded'],
    handle: async ({ actor, params }) => {
      await tags.link(actor, params.id, params.tag_id);
      return reply(204);
    },
  }),
  endpoint({
    ...OF_FILE,
    method: 'delete',
    path: '/files/{id}/tags/{tag_id}',
    operationId: 'untagFile',
    summary: 'Remove a tag from a file',
    params: Link,
    replies: { 204: null },
    errors: ['not_found'],
    handle: async ({ actor, params }) => {
      await tags.unlink(actor, params.id, params.tag_id);
      return reply(204);
    },
  }),
];
