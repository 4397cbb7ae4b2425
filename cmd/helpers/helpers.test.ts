import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { runChild } from '../../pkg/helpers/child.ts';
import { startHelpers } from '../../test/support/programs/helper-program.ts';
import { type Fault, startTranslationService } from '../../test/support/fakes/translation-services.ts';
import { waitFor } from '../../test/support/wait.ts';

test.each([
  ['en', 'es', 'The teacher reads a book.', 'El profesor lee un libro.'],
  ['en', 'es', 'HELLO, my friend!', 'HOLA, mi amigo!'],
  ['en', 'es', 'The library closes at ten.', 'El biblioteca cierra en diez.'],
  ['en', 'es', 'Xyzzy has 3 dogs\nand a cat.', 'Xyzzy tiene 3 perros\ny un gato.'],
  ['es', 'en', 'La calle es largo.', 'The street is long.'],
  ['es', 'en', 'Los estudiantes y el profesor.', 'The students and the teacher.'],
])('the dictionary translates from %s into %s: %s', async (source, target, text, expected) => {
  await using helpers = await startHelpers();

  const { body } = await helpers.translate({ text, target_language: target });

  expect(body).toEqual({ text: expected, source_language: source, provider: 'dictionary' });
});

const CLOUDS = [
  [
    'google',
    (url: string) => ({ CARREL_GOOGLE_TRANSLATE_KEY: 'key-1', CARREL_GOOGLE_TRANSLATE_URL: url }),
    'x-goog-api-key',
    'key-1',
  ],
  [
    'azure',
    (url: string) => ({ CARREL_AZURE_TRANSLATOR_KEY: 'key-2', CARREL_AZURE_TRANSLATOR_URL: url }),
    'ocp-apim-subscription-key',
    'key-2',
  ],
  ['deepl', (url: string) => ({ CARREL_DEEPL_KEY: 'key-3', CARREL_DEEPL_URL: url }), 'authorization', 'DeepL-Auth-Key key-3'],
  ['libretranslate', (url: string) => ({ CARREL_LIBRETRANSLATE_URL: url }), 'content-type', 'application/json'],
] as const;

test.each(CLOUDS)(
  '%s translates through its documented API, with its key, and the reply names it',
  async (name, settings, header, value) => {
    await using service = await startTranslationService(name);
    await using helpers = await startHelpers(settings(service.url));

    const { body } = await helpers.translate({ text: 'Good  morning.\n', target_language: 'ES-mx', source_language: 'auto' });

    expect(body).toEqual({ text: 'GOOD  MORNING.\n', source_language: 'en', provider: name });
    expect(service.seen.at(-1)?.headers[header]).toBe(value);
  },
);

test.each(CLOUDS)(
  '%s gets a long text in requests that its API allows, and the parts fit together',
  async (...[name, settings]) => {
    await using service = await startTranslationService(name);
    await using helpers = await startHelpers(settings(service.url));
    const text = 'One sentence of an article. 😀 Another one!\n'.repeat(1_100).slice(0, 48_000);

    const { body } = await helpers.translate({ text, target_language: 'es' });

    expect(body['text']).toBe(text.toUpperCase());
    expect(Math.max(...service.seen.map(({ body: sent }) => JSON.stringify(sent ?? '').length))).toBeLessThan(128 * 1024);
  },
);

const FAULTS: Fault[] = ['refuses', 'breaks', 'truncates', 'redirects', 'sends garbage', 'sends too few', 'never ends'];

test.each(FAULTS)('a service that %s is passed over, and the next one answers', async (fault) => {
  await using deepl = await startTranslationService('deepl');
  await using libre = await startTranslationService('libretranslate');
  deepl.fault = fault;
  await using helpers = await startHelpers({
    CARREL_DEEPL_KEY: 'key',
    CARREL_DEEPL_URL: deepl.url,
    CARREL_LIBRETRANSLATE_URL: libre.url,
  });

  const first = await helpers.translate({ text: 'Hello', target_language: 'es' });
  const asked = deepl.seen.length;
  const second = await helpers.translate({ text: 'Hello', target_language: 'es' });

  expect([first.body['provider'], second.body['provider']]).toEqual(['libretranslate', 'libretranslate']);
  expect(deepl.seen).toHaveLength(asked); // A failed service goes last for a while.
});

test('a service that refuses one text is still the first for the next one; a text that all refuse is a 400', async () => {
  await using deepl = await startTranslationService('deepl');
  await using libre = await startTranslationService('libretranslate');
  await using helpers = await startHelpers({
    CARREL_HELPERS_PROVIDERS: 'deepl,libretranslate',
    CARREL_DEEPL_KEY: 'key',
    CARREL_DEEPL_URL: deepl.url,
    CARREL_LIBRETRANSLATE_URL: libre.url,
  });
  const translate = () => helpers.translate({ text: 'Hello', target_language: 'es' });

  deepl.fault = 'refuses the text';
  const passed = await translate();
  libre.fault = 'refuses the text';
  const refused = await translate();
  deepl.fault = undefined;
  const next = await translate();

  expect(passed.body['provider']).toBe('libretranslate');
  expect([refused.status, refused.body]).toEqual([
    400,
    { error: 'validation_failed', message: 'text: no translator here accepts it.' },
  ]);
  expect(next.body['provider']).toBe('deepl');
});

test('blanks need no translation: no service gets them', async () => {
  await using deepl = await startTranslationService('deepl');
  await using helpers = await startHelpers({
    CARREL_HELPERS_PROVIDERS: 'deepl',
    CARREL_DEEPL_KEY: 'key',
    CARREL_DEEPL_URL: deepl.url,
  });

  const { status, body } = await helpers.translate({ text: ' \n\n ', target_language: 'es', source_language: 'en' });

  expect([status, body['text']]).toEqual([200, ' \n\n ']);
  expect(deepl.seen.filter(({ path }) => !path.startsWith('/v2/languages'))).toEqual([]);
});

test('without a translator that works the reply is 503 with Retry-After', async () => {
  await using deepl = await startTranslationService('deepl');
  deepl.fault = 'refuses';
  await using helpers = await startHelpers({
    CARREL_HELPERS_PROVIDERS: 'deepl',
    CARREL_DEEPL_KEY: 'key',
    CARREL_DEEPL_URL: deepl.url,
  });

  const { status, body, headers } = await helpers.translate({ text: 'Hello', target_language: 'es' });

  expect([status, body['error'], headers.get('retry-after')]).toEqual([503, 'unavailable', '10']);
});

test.each([
  ['zh-TW', 'azure'],
  ['de-AT', 'google'],
])('%s is served by the first translator that knows it: %s', async (target, expected) => {
  await using google = await startTranslationService('google');
  await using azure = await startTranslationService('azure');
  await using helpers = await startHelpers({
    CARREL_GOOGLE_TRANSLATE_KEY: 'key',
    CARREL_GOOGLE_TRANSLATE_URL: google.url,
    CARREL_AZURE_TRANSLATOR_KEY: 'key',
    CARREL_AZURE_TRANSLATOR_URL: azure.url,
  });

  expect((await helpers.translate({ text: 'Hello', target_language: target })).body['provider']).toBe(expected);
});

test('a variant that DeepL requires is chosen if the request names none', async () => {
  await using deepl = await startTranslationService('deepl');
  await using helpers = await startHelpers({ CARREL_DEEPL_KEY: 'key', CARREL_DEEPL_URL: deepl.url });

  await helpers.translate({ text: 'Hola', target_language: 'en', source_language: 'ES' });

  expect(deepl.seen.at(-1)?.body).toEqual({ text: ['Hola'], target_lang: 'EN-US', source_lang: 'ES' });
});

test.each([
  ['no JSON', '{', 400, 'validation_failed'],
  ['no text', { text: '', target_language: 'es' }, 400, 'validation_failed'],
  ['no target', { text: 'Hello' }, 400, 'validation_failed'],
  ['a target that is not a tag', { text: 'Hello', target_language: 'en_US' }, 400, 'language_unknown'],
  ['a target that nobody knows', { text: 'Hello', target_language: 'tlh' }, 400, 'language_unknown'],
  ['a source that nobody knows', { text: 'Hello', target_language: 'es', source_language: 'ja' }, 400, 'language_unknown'],
  ['a text without a language', { text: '42', target_language: 'es' }, 400, 'source_language_unclear'],
  ['50,001 characters', { text: 'a'.repeat(50_001), target_language: 'es' }, 413, 'payload_too_large'],
  ['a megabyte', { text: 'a'.repeat(1 << 20), target_language: 'es' }, 413, 'payload_too_large'],
])('a request with %s is refused with an explanation', async (_, body, status, code) => {
  await using helpers = await startHelpers();

  const reply = await helpers.translate(body);

  expect([reply.status, reply.body['error']]).toEqual([status, code]);
  expect(reply.body['message']).toMatch(/\w+ \w+/);
});

test('a wrong type is 415, another method 405, another address 404', async () => {
  await using helpers = await startHelpers();

  expect((await helpers.translate('x', { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await fetch(`${helpers.url}/translate`)).status).toBe(405);
  expect((await fetch(`${helpers.url}/elsewhere`)).status).toBe(404);
});

test('with a token set, requests need it; two are accepted while it is replaced', async () => {
  await using helpers = await startHelpers({ CARREL_HELPERS_TOKEN: 'old-token,new-token' });
  const status = async (headers: Record<string, string>) =>
    (await helpers.translate({ text: 'Hello', target_language: 'es' }, headers)).status;

  expect(await status({})).toBe(401);
  expect(await status({ authorization: 'Bearer old-token2' })).toBe(401);
  expect(await status({ authorization: 'Bearer old-token' })).toBe(200);
  expect(await status({ authorization: 'Bearer new-token' })).toBe(200);
});

test('the languages are those of all translators that answer', async () => {
  await using azure = await startTranslationService('azure');
  await using helpers = await startHelpers({
    CARREL_AZURE_TRANSLATOR_KEY: 'key',
    CARREL_AZURE_TRANSLATOR_URL: azure.url,
    CARREL_LIBRETRANSLATE_URL: 'http://127.0.0.1:9',
  });

  expect(await (await fetch(`${helpers.url}/languages`)).json()).toEqual({
    sources: ['de', 'en', 'es', 'zh-Hant'],
    targets: ['de', 'en', 'es', 'zh-Hant'],
    providers: ['azure', 'dictionary'],
  });
});

const withApertium = [spawnSync('apertium', ['-l'], { encoding: 'utf8' }).stdout].join().includes('eng-spa');

test('Apertium translates if it is installed, otherwise the dictionary does', async () => {
  await using helpers = await startHelpers({ CARREL_HELPERS_PROVIDERS: 'apertium,dictionary' });
  const text = 'Good morning.\n\nThe students read the book.\n\x1e $HOME \\ [x] ^y$';
  const expected = withApertium
    ? { text: 'Buenos días.\n\nEl alumnado leído el libro.\n  $Casa \\ [x] ^y$', source_language: 'en', provider: 'apertium' }
    : {
        text: 'Bueno mañana.\n\nEl estudiantes leer el libro.\n\x1e $HOME \\ [x] ^y$',
        source_language: 'en',
        provider: 'dictionary',
      };

  expect((await helpers.translate({ text, target_language: 'es' })).body).toEqual(expected);
  expect((await helpers.translate({ text: 'Los libros.', target_language: 'es' })).body['text']).toBe('Los libros.');
});

/** Translations of Debian's eng-spa, one request for all sentences of a language. */
const BY_APERTIUM = {
  es: [
    ['The teacher reads a book.', 'El profesor lee un libro.'],
    ['The students have an exam tomorrow.', 'El alumnado tiene un examen mañana.'],
    ['I want to learn Spanish.', 'Quiero aprender español.'],
    ['The course begins on Monday.', 'El curso empieza el lunes.'],
  ],
  en: [
    ['La profesora lee un libro.', 'The professor reads a book.'],
    ['Los estudiantes tienen un examen mañana.', 'The students have an examination tomorrow.'],
    ['Quiero aprender inglés.', 'I want to learn English.'],
    ['El libro está en la mesa.', 'The book is in the table.'],
  ],
} as const;

test.each(['es', 'en'] as const)(
  'whole sentences are translated into %s by Apertium if installed, otherwise by the dictionary',
  async (target) => {
    await using helpers = await startHelpers({ CARREL_HELPERS_PROVIDERS: 'apertium,dictionary' });
    const pairs = BY_APERTIUM[target];

    const { body } = await helpers.translate({ text: pairs.map(([text]) => text).join('\n'), target_language: target });

    expect(body['provider']).toBe(withApertium ? 'apertium' : 'dictionary');
    const lines = String(body['text']).split('\n');
    expect(lines).toHaveLength(pairs.length);
    if (withApertium) expect(lines).toEqual(pairs.map(([, expected]) => expected));
  },
);

const LIMITS = { ms: 60_000, memoryBytes: 256 << 20, outputBytes: 1_000 };
/** Seconds that a child sleeps. No other process on the machine uses these values, not even another run of this test. */
const SLEEPS = { late: `4101${process.pid}`, left: `4102${process.pid}` };
/** Returns the number of processes that sleep for this time. */
const sleeping = (argument: string): number =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`sleep\0${argument}\0`);
    } catch {
      return false; // The process ended meanwhile.
    }
  }).length;
const never = new AbortController().signal;

test.each([
  ['takes too long', { ...LIMITS, ms: 300 }, `sleep ${SLEEPS.late} | sleep ${SLEEPS.late}`, /longer than 300 ms/],
  ['writes too much', LIMITS, 'yes | sleep 0; yes', /more than 1000 bytes/],
  ['takes too much memory', LIMITS, 'head -c 1000000000 /dev/zero | tail -c 900000000 > /dev/null; exit $?', /ended with/],
  ['fails', LIMITS, 'exit 3', /ended with 3/],
])('a child that %s is an error, and leaves nothing behind', async (_, limits, script, error) => {
  await expect(runChild(['sh', '-c', script], '', limits, never)).rejects.toThrow(error);

  await waitFor('the end of the child', () => sleeping(SLEEPS.late) === 0);
});

test('a client that disconnects ends the child and all its processes, and a child has none of our environment', async () => {
  process.env['HELPERS_TEST_SECRET'] = 'secret';
  expect(await runChild(['env'], '', LIMITS, never)).not.toContain('secret');
  const left = new AbortController();
  const running = runChild(['sh', '-c', `sleep ${SLEEPS.left} | sleep ${SLEEPS.left}`], '', LIMITS, left.signal);
  await waitFor('the child', () => sleeping(SLEEPS.left) === 2);

  left.abort(new Error('the client left'));

  await expect(running).rejects.toThrow('the client left');
  await waitFor('the end of the child', () => sleeping(SLEEPS.left) === 0);
});

test('the helper of docs/helper-services.md runs, and has at most 30 lines', async () => {
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync('docs/helper-services.md', 'utf8')) ?? [];
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const port = /\d+/.exec(line.toString())?.[0];
    const ask = async (body: string): Promise<unknown[]> => {
      const reply = await fetch(`http://127.0.0.1:${port}/translate`, { method: 'POST', body });
      return [reply.status, await reply.json()];
    };

    expect(await ask(JSON.stringify({ text: 'stop', target_language: 'x-reversed' }))).toEqual([
      200,
      { text: 'pots', provider: 'reversed' },
    ]);
    expect((await ask(JSON.stringify({ text: 'stop', target_language: 'fr' })))[0]).toBe(400);
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(30);
  } finally {
    child.kill();
  }
});
