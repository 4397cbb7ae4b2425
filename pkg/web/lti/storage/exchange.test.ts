import { expect, test } from '@jest/globals';
import { exchange, type Reply, storageWindow } from './exchange.ts';

const ORIGIN = 'https://lms.example.org';

/** A platform's frame that replies as `answer` decides, and the page's own window. */
function platform(answer: (message: Record<string, string>) => readonly Reply[]) {
  const listeners = new Set<(event: Reply) => void>();
  const posted: { message: unknown; targetOrigin: string }[] = [];
  return {
    posted,
    listeners,
    to: {
      origin: ORIGIN,
      messageId: 'm-1',
      timeoutMs: 50,
      listener: {
        addEventListener: (_: 'message', listen: (event: Reply) => void) => void listeners.add(listen),
        removeEventListener: (_: 'message', listen: (event: Reply) => void) => void listeners.delete(listen),
      },
      target: {
        postMessage: (message: unknown, targetOrigin: string) => {
          posted.push({ message, targetOrigin });
          for (const reply of answer(message as Record<string, string>)) for (const listen of listeners) listen(reply);
        },
      },
    },
  };
}

const reply = (more: Record<string, unknown>, origin = ORIGIN): Reply => ({
  origin,
  data: { subject: 'lti.get_data.response', message_id: 'm-1', key: 'k', ...more },
});

test('the page gets the stored value, and posts the request to the platform’s origin only', async () => {
  const { to, posted, listeners } = platform(() => [reply({ value: 'sealed' })]);

  expect(await exchange({ subject: 'lti.get_data', key: 'k' }, to)).toBe('sealed');
  expect(posted).toEqual([{ message: { subject: 'lti.get_data', key: 'k', message_id: 'm-1' }, targetOrigin: ORIGIN }]);
  expect(listeners.size).toBe(0);
});

test.each<[string, Reply]>([
  ['another origin', reply({ value: 'forged' }, 'https://evil.example.org')],
  ['another message', reply({ value: 'forged', message_id: 'm-2' })],
  ['another subject', reply({ value: 'forged', subject: 'lti.put_data.response' })],
  ['no object', { origin: ORIGIN, data: 'lti.get_data.response' }],
  ['nothing', { origin: ORIGIN, data: null }],
])('a reply of %s is passed over', async (_, forged) => {
  const { to } = platform(() => [forged, reply({ value: 'true' })]);

  expect(await exchange({ subject: 'lti.get_data', key: 'k' }, to)).toBe('true');
});

test('a platform that has no such key, refuses, or is silent gives no value', async () => {
  const ask = (replies: readonly Reply[]) => exchange({ subject: 'lti.get_data', key: 'k' }, platform(() => replies).to);

  expect(await ask([reply({ value: null })])).toBeNull();
  expect(await ask([reply({ error: { code: 'bad_request', message: 'no' } })])).toBeUndefined();
  expect(await ask([])).toBeUndefined();
});

test('the frame is the parent, the opener where there is no parent, or a frame of that name in it', () => {
  interface Fake {
    parent: Fake;
    opener: Fake | null;
    frames: Record<string, Fake>;
  }
  const fake = (opener: Fake | null = null): Fake => {
    const window = { opener, frames: {}, postMessage: () => undefined } as unknown as Fake;
    window.parent = window;
    return window;
  };
  const [storage, parent, opened, alone] = [fake(), fake(), fake(fake()), fake()];
  parent.frames['keeper'] = storage;
  const framed = { ...fake(), parent };

  expect(storageWindow(framed, '_parent')).toBe(parent);
  expect(storageWindow(framed, 'keeper')).toBe(storage);
  expect(storageWindow(framed, 'nobody')).toBeUndefined();
  expect(storageWindow(opened, '_parent')).toBe(opened.opener);
  expect(storageWindow(alone, '_parent')).toBeUndefined();
});

test.each(['location', 'length', 'close'])('what a window has under the name %s is no frame', (name) => {
  const forbidden = new Proxy(
    {},
    {
      get: () => {
        throw new DOMException('of another origin', 'SecurityError');
      },
    },
  );
  const platform = { frames: { location: forbidden, length: 1, close: () => undefined } };
  const page = { parent: platform, opener: null, frames: {} };

  expect(storageWindow(page as never, name)).toBeUndefined();
});
