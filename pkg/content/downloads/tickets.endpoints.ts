import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { text, Uuid } from '../../api/schemas.ts';
import { TICKET_SECONDS, type Tickets } from './tickets.service.ts';

const TicketView = z
  .object({
    url: z.url().meta({
      description: 'saves the file without a token; whoever holds it reads the file',
      example: 'https://files.example.org/api/v1/tickets/dGlja2V0',
    }),
    expires_in: z.int().meta({ description: 'seconds', example: 60 }),
  })
  .meta({ id: 'Ticket' });

const ANY_CONTENT = { stream: '*/*' };
const SEALED_MAX = 1024;

/** `apiUrl`: absolute, without a slash at the end. */
export const ticketEndpoints = (tickets: Tickets, apiUrl: string): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/files/{id}/ticket',
    operationId: 'createTicket',
    summary: 'Give an address that downloads a file without a token, for 60 s',
    tag: 'files',
    caller: { permission: 'read:files' },
    params: z.object({ id: Uuid }),
    replies: { 201: TicketView },
    errors: ['not_found'],
    handle: async ({ actor, params }) =>
      reply(201, { url: `${apiUrl}/tickets/${await tickets.issue(actor, params.id)}`, expires_in: TICKET_SECONDS }),
  }),
  endpoint({
    method: 'get',
    path: '/tickets/{ticket}',
    operationId: 'downloadByTicket',
    summary: 'Download the file that a ticket is for, whole or one range of it',
    tag: 'files',
    caller: 'anyone',
    counts: ({ ticket }) => tickets.holder(ticket),
    params: z.object({ ticket: text(1, SEALED_MAX).meta({ example: 'dGlja2V0' }) }),
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT, 304: null },
    errors: ['not_found', 'range_not_satisfiable', 'too_many_transfers'],
    handle: ({ params, request }) => tickets.open(params.ticket, request),
  }),
];
