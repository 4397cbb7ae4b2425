import type { Api } from '../clients/api.ts';
import { AGS, type Launch, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../lms/launched.ts';
import { picking } from '../lms/picked.ts';
import { registeredLms, type Registration } from '../lms/registration.ts';
import { administrators, byAdmin, type Cases, type Make, NOBODY, of, type Request } from './case.ts';
import type { World } from './world.ts';

const GRADE = { user_id: 'ben', score: 8.5, score_maximum: 10 };
/** Requests by an instructor of a launch; `change` edits its claims. */
const launch =
  (more: Request = {}, change: (ags: Record<string, unknown>) => void = () => {}): Make =>
  async (w) => {
    const { api, launchId } = await launched(
      w.tenant,
      w.at,
      {},
      { claims: (all) => change(all[AGS] as Record<string, unknown>) },
    );
    return { by: api, params: { launch_id: launchId }, ...more };
  };
const grade: Make = async (w) => {
  const request = await launch()(w);
  const { body } = await (request.by as Api).post(`/lti/launches/${request.params?.['launch_id']}/grades`, GRADE);
  return { ...request, params: { ...request.params, id: body.id } };
};
/** Makes a failed grade of a new registration. */
const failedGrade = async (w: World): Promise<Request> => {
  const { api, grades } = await launched(w.tenant, await registeredLms(w.tenant, w.at));
  const { body } = await api.post(grades, GRADE);
  await w.tenant.db.query(`UPDATE lti_grades SET status = 'failed' WHERE uuid = $1`, [body.id]);
  return { by: api, params: { id: body.id } };
};
const byLearner =
  (more: Request = {}): Make =>
  async (w) => {
    const { api, launchId } = await launched(w.tenant, w.at, { roles: [LEARNER] });
    return { by: api, params: { launch_id: launchId }, ...more };
  };

const decision = { deployment_id: '7', status: 'admitted' };
/** Requests about a new registration whose deployments administrators admit. */
const confirming =
  (body: object): Make =>
  async (w) => {
    const { toolId } = await registeredLms(w.tenant, w.at, { deploymentPolicy: 'Confirm' });
    const tool = await w.tenant.db.tables.ltiTools.find({ id: toolId });
    return { params: { id: tool?.uuid ?? NOBODY }, body };
  };

/** Requests by an instructor whom the LMS asks for content; `items` is the answer. */
const asked =
  (
    items: (w: World, api: Api) => Promise<object[]> = async () => [],
    { settings = {}, at }: { settings?: Readonly<Record<string, unknown>>; at?: (w: World) => Promise<Registration> } = {},
  ): Make =>
  async (w) => {
    const { api, launchId } = await picking(w.tenant, at ? await at(w) : w.at, settings);
    return { by: api, params: { launch_id: launchId }, body: { items: await items(w, api) } };
  };
const answer = ({ by, params, body }: Request): Promise<unknown> =>
  (by as Api).post(`/lti/launches/${params?.['launch_id']}/picker/answer`, body);
/** A file of theirs as so many links of this tool. */
const links =
  (times: number) =>
  async (w: World, api: Api): Promise<object[]> => {
    const { body } = await api.upload('/files', { file: Buffer.from('Hello.'), name: w.name() });
    return Array.from({ length: times }, () => ({ type: 'ltiResourceLink', file_id: body.id, text: 'x'.repeat(1000) }));
  };
/** A file of ada's that they may read. */
const lent = async (w: World, api: Api): Promise<object[]> => {
  const [{ id }, { body: me }] = [await w.file(), await api.get('/users/me')];
  await w.ada.api.post(`/files/${id}/permissions`, { user_id: me.id, permission_level: 'read' });
  return [{ type: 'link', file_id: id }];
};

/** A learner with a file of their own. */
const handsIn =
  (opened: Partial<Launch> = {}): ((w: World) => Promise<Request>) =>
  async (w) => {
    const { api, launchId } = await launched(w.tenant, w.at, { roles: [LEARNER], ...opened });
    const { body } = await api.upload('/files', { file: Buffer.from('Essay.'), name: w.name() });
    return { by: api, params: { launch_id: launchId }, body: { file_id: body.id } };
  };

const LINE_ITEM = { label: 'Essay', score_maximum: 10 };
/** Requests about a new course by an instructor; `at` is a registration other than the usual one. */
const course =
  (more: Request = {}, opened: Partial<Launch> = {}): ((w: World, at?: Registration) => Promise<Request>) =>
  async (w, at = w.at) => {
    const id = w.name();
    const { api } = await launched(w.tenant, at, { course: { id, title: id }, ...opened });
    const { data } = (await api.get('/lti/contexts', { query: { limit: '200' } })).body;
    return { by: api, params: { id: data.find(({ lms_id }: { lms_id: string }) => lms_id === id).id }, ...more };
  };
const lineItem =
  (more: Request = {}): ((w: World, at?: Registration) => Promise<Request>) =>
  async (w, at) => {
    const request = await course()(w, at);
    const { body } = await (request.by as Api).post(`/lti/contexts/${request.params?.['id']}/line-items`, LINE_ITEM);
    return { ...request, params: { ...request.params, line_item_id: body.id }, ...more };
  };
const inactive =
  (make: (w: World, at?: Registration) => Promise<Request>): Make =>
  async (w) => {
    const own = await registeredLms(w.tenant, w.at);
    const request = await make(w, own);
    await w.tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });
    return request;
  };
/** The errors of the LMS, by its answers to the request of `service`. */
const ofLms = (make: (w: World, at?: Registration) => Promise<Request>, service: 'lineItems' | 'results' | 'members'): Cases => {
  const answering =
    (status: number): Make =>
    async (w) => {
      const request = await make(w);
      w.at.lms[service].manner.set({ status }, 1);
      return request;
    };
  return {
    success: make,
    stranger: 'forbidden',
    errors: {
      registration_inactive: inactive(make),
      lms_service_missing: answering(405),
      lms_refused: answering(406),
      lms_failed: answering(500),
      lms_unavailable: answering(503),
      lms_timeout: answering(504),
    },
  };
};

/** Launches, courses, line items and grades. */
export const LTI_CASES: Readonly<Record<string, Cases>> = {
  getLaunch: { success: launch() },
  listLaunches: administrators(() => ({})),
  handIn: {
    success: handsIn(),
    errors: { forbidden: handsIn({ course: null }) },
  },
  getHandIn: {
    success: async (w) => {
      const { by, params, body } = await handsIn()(w);
      await (by as Api).post(`/lti/launches/${params?.['launch_id']}/hand-in`, body);
      return { by: by as Api, params: params ?? {} };
    },
  },
  getPicker: { success: asked() },
  answerPicker: {
    isOpen: true,
    success: asked(links(1)),
    errors: {
      forbidden: asked(lent),
      item_refused: asked(links(1), { settings: { accept_types: ['file'] } }),
      answer_too_long: asked(links(10), {
        at: async (w) => {
          const own = await registeredLms(w.tenant, w.at);
          await w.tenant.db.tables.ltiTools.update({ id: own.toolId }, { deepLinkingResponseMode: 'Query' });
          return own;
        },
      }),
      picker_answered: async (w) => {
        const request = await asked()(w);
        await answer(request);
        return request;
      },
      registration_inactive: async (w) => {
        const own = await registeredLms(w.tenant, w.at);
        const request = await asked(undefined, { at: async () => own })(w);
        await w.tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });
        return request;
      },
    },
    unseen: { share_policy: 'the policy in these tests asks of links only that they end' },
  },
  listRegistrations: administrators(() => ({})),
  getRegistration: administrators(async (w) => of((await w.tenant.admin.get('/lti/registrations')).body.data[0])),
  listDeployments: administrators(async (w) => of((await w.tenant.admin.get('/lti/registrations')).body.data[0])),
  decideDeployment: administrators(confirming(decision), {
    // The usual one lists its deployments; those of other cases may not.
    conflict: async (w) => {
      const { data } = (await w.tenant.admin.get('/lti/registrations', { query: { limit: '200' } })).body;
      return byAdmin(w, {
        ...of(data.find(({ client_id }: { client_id: string }) => client_id === w.at.clientId)),
        body: decision,
      });
    },
    managed: async (w) => byAdmin(w, await confirming({ deployment_id: '1', status: 'refused' })(w)),
  }),
  createRegistrationLink: administrators(() => ({ body: { platform_name: 'Moodle' } }), {
    conflict: async (w) => {
      await w.tenant.db.query(
        `INSERT INTO lti_registration_links (uuid, token_hash, expires_at)
         SELECT gen_random_uuid(), gen_random_uuid(), now() + interval '1 hour' FROM generate_series(1, 50)`,
      );
      return byAdmin(w, { body: {} });
    },
  }),
  listContexts: administrators(() => ({})),
  getContext: administrators(async (w) => of(await w.course())),
  listCourseMembers: { success: course(), stranger: 'forbidden' },
  listLinkMembers: ofLms(course({ query: { resource_link_id: 'link-1' } }), 'members'),
  syncCourseMembers: {
    success: course(),
    stranger: 'forbidden',
    errors: {
      registration_inactive: inactive(course()),
      lms_service_missing: async (w) => {
        const request = await course()(w);
        await w.tenant.db.query(
          `UPDATE lti_launches SET nrps_url = NULL WHERE context_id = (SELECT context_id FROM groups WHERE uuid = $1)`,
          [request.params?.['id']],
        );
        return request;
      },
      // One instructor requests the rosters of one course after the other.
      conflict: async (w) => {
        const user = { id: w.name() };
        for (;;) {
          const request = await course({}, { user })(w);
          const { status } = await (request.by as Api).post(`/lti/contexts/${request.params?.['id']}/members/sync`);
          if (status === 409) return request;
        }
      },
    },
  },
  listLineItems: ofLms(course(), 'lineItems'),
  createLineItem: ofLms(course({ body: LINE_ITEM }), 'lineItems'),
  getLineItem: ofLms(lineItem(), 'lineItems'),
  putLineItem: ofLms(lineItem({ body: { ...LINE_ITEM, label: 'Report' } }), 'lineItems'),
  deleteLineItem: ofLms(lineItem(), 'lineItems'),
  listResults: ofLms(lineItem(), 'results'),
  createScore: {
    success: lineItem({ body: GRADE }),
    stranger: 'forbidden',
    errors: {
      registration_inactive: inactive(lineItem({ body: GRADE })),
      lms_service_missing: async (w) => {
        const request = await lineItem({ body: GRADE })(w);
        await w.tenant.db.query(
          `UPDATE lti_launches SET ags_scopes = '{}' WHERE context_id = (SELECT context_id FROM groups WHERE uuid = $1)`,
          [request.params?.['id']],
        );
        return request;
      },
    },
  },
  listAllGrades: administrators(() => ({})),
  retryGrade: {
    success: failedGrade,
    stranger: 'forbidden',
    errors: {
      conflict: async (w) => {
        const request = await failedGrade(w);
        await w.tenant.db.query(`UPDATE lti_grades SET status = 'submitted' WHERE uuid = $1`, [request.params?.['id']]);
        return request;
      },
      registration_inactive: async (w) => {
        const request = await failedGrade(w);
        await w.tenant.db.query(
          `UPDATE lti_tools SET is_active = false
           WHERE id = (SELECT l.tool_id FROM lti_grades g JOIN lti_launches l USING (launch_id) WHERE g.uuid = $1)`,
          [request.params?.['id']],
        );
        return request;
      },
    },
  },
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
