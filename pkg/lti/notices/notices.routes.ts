import { Counter } from 'prom-client';
import type { PageRoute } from '../../api/page.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Notices } from './notices.service.ts';

/** The address to which platforms post notices: `{ltiUrl}/notices`. */
export function noticeRoutes({ notices, metrics }: { notices: Notices; metrics: Metrics }): PageRoute[] {
  const results = new Counter({
    name: 'carrel_lti_notices_total',
    help: 'Notices of platforms by result: accepted, or the code of the refusal',
    labelNames: ['result'],
    registers: [metrics],
  });
  return [
    {
      methods: ['post'],
      path: '/notices',
      takes: 'json',
      handle: async ({ json }) => {
        const received = await notices.receive(json);
        if (received.accepted > 0) results.inc({ result: 'accepted' }, received.accepted);
        for (const { error } of received.refused) results.inc({ result: error });
        return { status: 200, body: JSON.stringify(received), headers: { 'content-type': 'application/json; charset=utf-8' } };
      },
    },
  ];
}
