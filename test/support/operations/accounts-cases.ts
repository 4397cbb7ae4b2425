import { administrators, byAdmin, DELETED_MEANWHILE, of, type Cases, type Make, type Request } from './case.ts';
import type { World } from './world.ts';

const userChanges: Cases = {
  success: async (w) => byAdmin(w, { params: { id: (await w.person()).user.id }, body: { display_name: 'Bo' } }),
  isOpen: true,
  errors: {
    forbidden: (w) => ({ params: { id: w.ada.user.id }, body: { roles: ['admin'] } }),
    conflict: async (w) => byAdmin(w, { params: { id: (await w.person()).user.id }, body: { email: w.ada.user.email } }),
  },
};
const managedGroup =
  (more: (w: World) => Request): Make =>
  async (w) => {
    const { params, ...rest } = more(w);
    return byAdmin(w, { params: { id: (await w.course()).id, ...params }, ...rest });
  };
const groupChanges = administrators(async (w) => ({ ...of(await w.group()), body: { name: w.name() } }), {
  managed: managedGroup((w) => ({ body: { name: w.name() } })),
  name_conflict: async (w) => byAdmin(w, { ...of(await w.group()), body: { name: (await w.group()).name } }),
});
const members = administrators(async (w) => ({ params: { id: (await w.group()).id, user_id: w.bob.user.id } }), {
  managed: managedGroup((w) => ({ params: { user_id: w.bob.user.id } })),
});

/** Sign-in, sessions, users and groups. */
export const ACCOUNT_CASES: Readonly<Record<string, Cases>> = {
  login: {
    success: (w) => ({ by: w.tenant.anonymous, body: { email: w.ada.user.email, password: w.ada.password } }),
    stranger: 'same',
    errors: {
      invalid_credentials: (w) => ({ by: w.tenant.anonymous, body: { email: w.ada.user.email, password: 'another password' } }),
      too_many_attempts: async (w) => {
        const { user, password } = await w.person();
        for (let attempt = 0; attempt < 20; attempt += 1)
          await w.tenant.anonymous.post('/auth/login', { email: user.email, password: 'another password' });
        return { by: w.tenant.anonymous, body: { email: user.email, password } };
      },
    },
  },
  refreshSession: {
    success: async (w) => ({ by: w.tenant.anonymous, body: { refresh_token: (await w.person()).api.refreshToken } }),
    stranger: 'same',
    errors: {
      invalid_refresh_token: (w) => ({ by: w.tenant.anonymous, body: { refresh_token: 'unknown' } }),
      session_expired: async (w) => {
        const { api, user } = await w.person();
        await w.tenant.db.query(
          `UPDATE sessions SET created_at = now() - interval '91 days' WHERE user_id = (SELECT id FROM users WHERE uuid = $1)`,
          [user.id],
        );
        return { by: w.tenant.anonymous, body: { refresh_token: api.refreshToken } };
      },
      // A cookie that a page of another site has the browser send.
      forbidden: (w) => ({
        by: w.tenant.anonymous,
        headers: { cookie: 'carrel_refresh=x', origin: 'https://elsewhere.example' },
      }),
    },
  },
  logout: { success: async (w) => ({ by: (await w.person()).api }), stranger: 'same' },
  createPasswordReset: administrators(async (w) => ({ params: { id: (await w.person()).user.id } }), {
    conflict: async (w) => {
      const { user } = await w.person();
      await w.tenant.admin.patch(`/users/${user.id}`, { is_active: false });
      return byAdmin(w, { params: { id: user.id } });
    },
  }),
  resetPassword: {
    success: async (w) => {
      const { user } = await w.person();
      const { body } = await w.tenant.admin.post(`/users/${user.id}/password-reset`);
      return { by: w.tenant.anonymous, body: { token: body.token, new_password: 'a new long password' } };
    },
    stranger: 'same',
    errors: {
      invalid_reset_token: (w) => ({ by: w.tenant.anonymous, body: { token: 'unknown', new_password: 'a new long password' } }),
    },
  },
  listSessions: { success: () => ({}), stranger: 'same' },
  endOtherSessions: { success: () => ({}), stranger: 'same' },
  endSession: {
    success: async (w) => {
      const { api } = await w.person();
      const { body } = await api.get('/users/me/sessions');
      return { by: api, params: { id: body.data[0].id } };
    },
  },

  listUsers: administrators(() => ({})),
  createUser: administrators((w) => ({ body: { email: `${w.name()}@example.org`, username: w.name() } }), {
    conflict: (w) => byAdmin(w, { body: { email: w.ada.user.email, username: w.name() } }),
  }),
  getCurrentUser: { success: () => ({}), stranger: 'same', unseen: { not_found: DELETED_MEANWHILE } },
  getWelcome: { success: () => ({}), stranger: 'same', unseen: { not_found: DELETED_MEANWHILE } },
  changePassword: {
    success: async (w) => {
      const { api, password } = await w.person();
      return { by: api, body: { current_password: password, new_password: 'a new long password' } };
    },
    stranger: 'same',
    errors: {
      invalid_credentials: async (w) => ({
        by: (await w.person()).api,
        body: { current_password: 'another password', new_password: 'a new long password' },
      }),
      too_many_attempts: async (w) => {
        const { api, password } = await w.person();
        const change = (current_password: string) => ({ current_password, new_password: 'a new long password' });
        for (let attempt = 0; attempt < 20; attempt += 1) await api.post('/users/me/password', change('another password'));
        return { by: api, body: change(password) };
      },
    },
  },
  getUser: { success: (w) => ({ params: { id: w.ada.user.id } }) },
  putUser: userChanges,
  updateUser: userChanges,
  deleteUser: administrators(async (w) => ({ params: { id: (await w.person()).user.id } }), {
    conflict: async (w) => byAdmin(w, { params: { id: (await w.tenant.admin.get('/users/me')).body.id } }),
    name_conflict: async (w) => {
      const [from, to] = [await w.person(), await w.person()];
      for (const { api } of [from, to]) await api.upload('/files', { file: Buffer.from('x'), name: 'same' });
      return byAdmin(w, { params: { id: from.user.id }, query: { transfer_to: to.user.id } });
    },
    quota_exceeded: async (w) => {
      const [from, to] = [await w.person(), await w.person(['member'], 1)];
      await from.api.upload('/files', { file: Buffer.from('more than one byte'), name: 'x' });
      return byAdmin(w, { params: { id: from.user.id }, query: { transfer_to: to.user.id } });
    },
  }),
  endUserSessions: administrators(async (w) => ({ params: { id: (await w.person()).user.id } })),
  getTenantUsage: administrators(() => ({})),
  getOwnUsage: { success: () => ({}), stranger: 'same', unseen: { not_found: DELETED_MEANWHILE } },
  getUsage: { success: (w) => ({ params: { id: w.ada.user.id } }) },

  getSettings: administrators(() => ({})),
  getTenantSettings: administrators(() => ({})),
  updateSettings: administrators(
    async (w) => {
      await w.tenant.db.query('UPDATE settings SET share_links_managed_by = NULL');
      return { body: { share_links: { folder_uploads: true } } };
    },
    {
      managed: async (w) => {
        await w.tenant.db.query(`INSERT INTO settings (share_links_managed_by) VALUES ('kubernetes')
          ON CONFLICT (is_sole) DO UPDATE SET share_links_managed_by = excluded.share_links_managed_by`);
        return byAdmin(w, { body: { share_links: { folder_uploads: true } } });
      },
    },
  ),

  listAuditEntries: administrators(() => ({})),
  listGrantees: { success: () => ({}), stranger: 'same' },
  listGroups: { success: () => ({}), stranger: 'same' },
  createGroup: administrators((w) => ({ body: { name: w.name() } }), {
    name_conflict: async (w) => byAdmin(w, { body: { name: (await w.group()).name } }),
  }),
  listGroupPermissions: administrators(async (w) => of(await w.group())),
  getGroup: { success: async (w) => byAdmin(w, of(await w.group())) },
  putGroup: groupChanges,
  updateGroup: groupChanges,
  deleteGroup: administrators(async (w) => of(await w.group()), { managed: managedGroup(() => ({})) }),
  listGroupMembers: { success: async (w) => byAdmin(w, of(await w.group())) },
  addGroupMember: members,
  removeGroupMember: members,
};
