/**
 * The platform's side of LTI Client Side postMessages 1.0 and of LTI Platform Storage 1.0, as a script of the window that frames
 * tools. Entries are stored by the origin of the tool that puts them, and only that origin reads them.
 */
export const PLATFORM_STORAGE = `
const entries = new Map();
const MAX_KEYS = 500, MAX_CHARACTERS = 4096;
addEventListener('message', (event) => {
  const asked = event.data;
  if (typeof asked !== 'object' || asked === null) return;
  if (typeof asked.subject !== 'string' || !asked.subject.startsWith('lti.')) return;
  const reply = (more) =>
    event.source.postMessage({ subject: asked.subject + '.response', message_id: asked.message_id, ...more }, event.origin);
  const fail = (code, message) => reply({ error: { code, message } });
  if (asked.subject === 'lti.capabilities') {
    reply({ supported_messages: ['lti.capabilities', 'lti.put_data', 'lti.get_data'].map((subject) => ({ subject })) });
  } else if (asked.subject === 'lti.put_data' || asked.subject === 'lti.get_data') {
    if (typeof asked.message_id !== 'string' || typeof asked.key !== 'string')
      return fail('bad_request', 'message_id and key are required');
    const slot = JSON.stringify([event.origin, asked.key]);
    if (asked.subject === 'lti.put_data') {
      if (asked.value === null || asked.value === undefined) entries.delete(slot);
      else if (String(asked.value).length > MAX_CHARACTERS || entries.size >= MAX_KEYS)
        return fail('storage_exhausted', 'too much');
      else entries.set(slot, String(asked.value));
    }
    reply({ key: asked.key, value: entries.get(slot) ?? null });
  } else fail('unsupported_subject', 'lti.capabilities lists the supported subjects');
});
`;
