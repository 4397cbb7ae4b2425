import type { GradeView } from '../../../pkg/lti/grades/grades.schema.ts';
import type { Launch } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { type Receiver, startReceiver } from '../fakes/receiver.ts';
import type { TestTenant } from '../programs/server.ts';
import { range, untilServed, waitFor } from '../wait.ts';
import { addWebhook } from './webhooks.ts';
import { launched } from '../lms/launched.ts';
import { registeredLms, type Registration } from '../lms/registration.ts';
import type { TestPlatform } from '../programs/worker-platform.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** Tried again at once, and more often than any test waits. */
export const SETTINGS = {
  CARREL_GRADE_RETRY_SECONDS: range(500).fill(0.2).join(','),
  CARREL_WEBHOOK_RETRY_SECONDS: range(500).fill(0.2).join(','),
};

/** A launch whose grades a worker sends. */
export interface Graded {
  readonly at: Registration;
  /** Gives a grade; throws unless it is taken. */
  grade(userId: string, score?: number): Promise<GradeView>;
  show(grade: GradeView): Promise<GradeView>;
  /** Waits until the grade is so. */
  becomes(grade: GradeView, is: (shown: GradeView) => boolean, what: string): Promise<GradeView>;
  submitted(grade: GradeView): Promise<GradeView>;
  failed(grade: GradeView): Promise<GradeView>;
}

/** A tenant with an LMS, and a receiver of the events of its grades. */
export interface Grading {
  readonly tenant: TestTenant;
  readonly at: Registration;
  readonly receiver: Receiver;
  /** A launch by an instructor, of a registration of its own: the worker has no token for it yet. */
  launch(options?: { opened?: Partial<Launch>; fault?: Fault; withKey?: boolean }): Promise<Graded>;
  stop(): Promise<void>;
}

export async function startGrading(platform: TestPlatform): Promise<Grading> {
  const tenant = await platform.tenant();
  const receiver = await startReceiver();
  await addWebhook(tenant, { url: receiver.url, secret: SECRET });
  const at = await registeredLms(tenant);
  return {
    tenant,
    at,
    receiver,
    launch: async ({ opened = {}, fault, withKey = true } = {}) => {
      const own = await registeredLms(tenant, at);
      if (!withKey) await tenant.db.tables.ltiTools.update({ id: own.toolId }, { privateKey: null });
      const { api, grades } = await launched(tenant, own, { user: { id: 'ada' }, ...opened }, fault);
      const show = async (grade: GradeView): Promise<GradeView> => (await api.get(`${grades}/${grade.id}`)).body;
      const becomes: Graded['becomes'] = async (grade, is, what) => {
        let shown = grade;
        const became = waitFor(what, async () => is((shown = await show(grade))) && shown);
        return became.catch((error: unknown) => {
          throw new Error(`${what} did not come: the grade is ${JSON.stringify(shown)}`, { cause: error });
        });
      };
      return {
        at: own,
        show,
        becomes,
        grade: async (userId, score = 8.5) => {
          const reply = await untilServed(() =>
            api.post(grades, { user_id: userId, score, score_maximum: 100, comment: 'Good' }),
          );
          if (reply.status !== 201) throw new Error(`the grade was not taken: ${reply.status} ${JSON.stringify(reply.body)}`);
          return reply.body;
        },
        submitted: (grade) => becomes(grade, ({ status }) => status === 'submitted', 'the grade at the LMS'),
        failed: (grade) => becomes(grade, ({ status }) => status === 'failed', 'the failure of the grade'),
      };
    },
    stop: async () => {
      await receiver.close();
      await at.lms.stop();
    },
  };
}
