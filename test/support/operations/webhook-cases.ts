import { administrators, byAdmin, of, type Cases, type Make } from './case.ts';

/** Returns a time within the retention of deliveries. */
const lately = (): string => new Date(Date.now() - 60_000).toISOString();
const HOOK = { url: 'https://receiver.example.org/hook', events: ['file.created'] };
const PRIVATE = { ...HOOK, url: 'https://10.0.0.1/hook' };
const managedWebhook =
  (body?: unknown): Make =>
  async (w) =>
    byAdmin(w, { ...of(await w.managedWebhook()), body });
const webhookChanges = administrators(async (w) => ({ ...of(await w.webhook()), body: HOOK }), {
  managed: managedWebhook(HOOK),
  address_refused: async (w) => byAdmin(w, { ...of(await w.webhook()), body: PRIVATE }),
});
/** Makes a request about a webhook that is not active. */
const inactive =
  (body?: unknown): Make =>
  async (w) =>
    byAdmin(w, { ...of(await w.webhook({ active: false })), body });

/** Webhooks and their deliveries. */
export const WEBHOOK_CASES: Readonly<Record<string, Cases>> = {
  listWebhooks: administrators(() => ({})),
  createWebhook: administrators(() => ({ body: HOOK }), {
    address_refused: (w) => byAdmin(w, { body: PRIVATE }),
    conflict: async (w) => {
      for (let status = 201; status === 201;) ({ status } = await w.tenant.admin.post('/webhooks', HOOK));
      return byAdmin(w, { body: HOOK });
    },
  }),
  getWebhook: administrators(async (w) => of(await w.webhook())),
  putWebhook: webhookChanges,
  updateWebhook: webhookChanges,
  deleteWebhook: administrators(async (w) => of(await w.webhook()), { managed: managedWebhook() }),
  rotateWebhookSecret: administrators(async (w) => ({ ...of(await w.webhook()), body: {} }), { managed: managedWebhook({}) }),
  listDeliveries: administrators(async (w) => of(await w.webhook())),
  getDelivery: administrators(async (w) => ({ params: await w.delivery() })),
  getWebhookStatistics: administrators(async (w) => of(await w.webhook())),
  replayDelivery: administrators(async (w) => ({ params: await w.delivery() }), {
    conflict: async (w) => {
      const params = await w.delivery();
      await w.tenant.admin.patch(`/webhooks/${params.id}`, { active: false });
      return byAdmin(w, { params });
    },
  }),
  replayDeliveries: administrators(async (w) => ({ ...of(await w.webhook()), body: { since: '2026-01-31T12:00:00Z' } }), {
    conflict: inactive({ since: '2026-01-31T12:00:00Z' }),
  }),
  createReplay: administrators(async (w) => ({ ...of(await w.webhook()), body: { since: lately() } }), {
    conflict: inactive({ since: lately() }),
  }),
  testWebhook: administrators(async (w) => ({ ...of(await w.webhook()), body: {} }), { conflict: inactive({}) }),
};
