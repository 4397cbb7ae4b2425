import type { Api } from '../api.ts';
import { AGS, LEARNER } from '../lms/claims.ts';
import { launched } from '../lms/launched.ts';
import { registeredLms } from '../lms/registration.ts';
import { administrators, type Cases, type Make, NOBODY, of, type Request } from './case.ts';

const GRADE = { user_id: 'ben', score: 8.5, score_maximum: 10 };
/** By an instructor of the launch; `change`: to its claims. */
const launch =
  (more: Request = {}, change: (ags: Record<string, unknown>) => void = () => {}): Make =>
  async (w) => {
    const { api, launchId } = await launched(w.tenant, w.at, {}, { claims: (all) => change(all[AGS] as Record<string, unknown>) });
    return { by: api, params: { launch_id: launchId }, ...more };
  };
const grade: Make = async (w) => {
  const request = await launch()(w);
  const { body } = await (request.by as Api).post(`/lti/launches/${request.params?.['launch_id']}/grades`, GRADE);
  return { ...request, params: { ...request.params, id: body.id } };
};
const byLearner =
  (more: Request = {}): Make =>
  async (w) => {
    const { api, launchId } = await launched(w.tenant, w.at, { roles: [LEARNER] });
    return { by: api, params: { launch_id: launchId }, ...more };
  };

/** Launches and grades. */
export const LTI_CASES: Readonly<Record<string, Cases>> = {
  getLaunch: { success: launch() },
  listContexts: administrators(() => ({})),
  getContext: administrators(async (w) => of(await w.course())),
  createGrade: {
    success: launch({ body: GRADE }),
    stranger: 'forbidden',
    errors: {
      forbidden: byLearner({ body: GRADE }),
      line_item_missing: launch({ body: GRADE }, (ags) => void delete ags['lineitem']),
      score_scope_missing: launch({ body: GRADE }, (ags) => void (ags['scope'] = [`${AGS}/scope/result.readonly`])),
      registration_inactive: async (w) => {
        const own = await registeredLms(w.tenant, w.at);
        const { api, launchId } = await launched(w.tenant, own);
        await w.tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });
        return { by: api, params: { launch_id: launchId }, body: GRADE };
      },
    },
  },
  listGrades: { success: launch(), stranger: 'forbidden', errors: { forbidden: byLearner() } },
  getGrade: {
    success: grade,
    stranger: 'forbidden',
    errors: { forbidden: async (w) => ({ ...(await byLearner()(w)), params: { ...(await byLearner()(w)).params, id: NOBODY } }) },
  },
};
