import { processor } from '../../events/processor.ts';
import { markCopied } from '../links/course-copies.sql.ts';
import { HELLO } from './notice-types.ts';
import { noteHello } from './handlers.sql.ts';
import { deleteOldNotices, takeNotice } from './notices.sql.ts';
import { PROCESS_NOTICE } from './notices.jobs.ts';

/** Carries out a notice, once: the same transaction marks it as processed. */
export const processNotice = processor({
  job: PROCESS_NOTICE,
  create:
    ({ clock }) =>
    async ({ transaction }, { tool, notice: id }) =>
      transaction(async (tx) => {
        const now = clock.now();
        const notice = await takeNotice(tx, tool, id, now);
        if (!notice) return;
        const { type, platformId, contextId, deploymentId, origins } = notice;
        if (type === HELLO) await noteHello(tx, tool, deploymentId, now);
        else if (platformId !== null && contextId !== null) await markCopied(tx, platformId, contextId, origins);
        await deleteOldNotices(tx, now);
      }),
});
