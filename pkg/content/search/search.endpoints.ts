import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { FoundPage, SearchQuery } from './search.schema.ts';
import type { Search } from './search.service.ts';

export const searchEndpoints = (search: Search): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/search',
    operationId: 'search',
    summary: 'Search files and folders by name (whole words first, then beginnings, then parts) or by filters alone',
    tag: 'files',
    caller: { permission: 'read:files' },
    query: SearchQuery,
    replies: { 200: FoundPage },
    compressed: true,
    errors: ['not_found'],
    handle: async ({ actor, query }) => reply(200, await search.findAsJson(actor, query)),
  }),
];
