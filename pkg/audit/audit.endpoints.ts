import { CSV, type Endpoint, endpoint, NDJSON, reply, wantsLines, wantsTable } from '../api/endpoint.ts';
import { AuditPage, AuditQuery } from './audit.schema.ts';
import type { AuditLog } from './audit.service.ts';

export const auditEndpoints = (log: AuditLog): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/audit',
    operationId: 'listAuditEntries',
    summary: 'List who did what in the last 365 days, newest first; lines of JSON and tables contain every match',
    tag: 'audit',
    caller: { permission: 'read:audit' },
    query: AuditQuery,
    replies: { 200: AuditPage },
    exported: [NDJSON, CSV],
    handle: async ({ query, request }) => {
      if (wantsTable(request)) return reply(200, log.table(query, request.signal), { 'content-type': CSV });
      if (wantsLines(request)) return reply(200, log.export(query, request.signal), { 'content-type': NDJSON });
      return reply(200, await log.list(query));
    },
  }),
];
