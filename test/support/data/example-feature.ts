import { z } from 'zod';
import { endpoint, reply } from '../../../pkg/api/endpoint.ts';
import { Timestamp } from '../../../pkg/api/schemas.ts';
import type { Feature } from '../../../pkg/feature/feature.ts';

/** The example of docs/architecture.md, "Add a feature". */
export const time: Feature = {
  name: 'time',
  create: ({ clock }) => ({
    endpoints: [
      endpoint({
        method: 'get',
        path: '/time',
        operationId: 'getTime',
        summary: 'Show what time it is',
        caller: 'user',
        replies: { 200: z.object({ time: Timestamp }) },
        handle: async () => reply(200, { time: clock.now().toISOString() }),
      }),
    ],
  }),
};
