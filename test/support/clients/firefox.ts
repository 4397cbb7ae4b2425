import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { firefox } from 'playwright-core';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { messageOf } from '../../../pkg/runtime/command-error.ts';
import { makeScratch, ROOT } from '../backends/backends.ts';
import { WAIT_LIMIT_MS } from '../wait.ts';
import { closeAtEndOfTest, type TestBrowser } from './chromium.ts';

/** Firefox on this machine, or why there is none. */
export async function findFirefox(): Promise<{ readonly program?: string; readonly missing?: string }> {
  try {
    return { program: await resolveBinary('firefox', thisMachine(ROOT), () => undefined) };
  } catch (error) {
    return { missing: messageOf(error) };
  }
}

/** A command of WebDriver BiDi that Playwright sends to each new browser, and that Firefox 153 does not know. */
const UNKNOWN_COMMAND = 'emulation.setMediaFeaturesOverride';

interface Transport {
  send(message: { readonly id: number; readonly method: string }): void;
  onmessage?: (message: object) => void;
}

/** What Playwright 1.65 is made of inside. */
interface Inside {
  readonly _connection: {
    toImpl(of: unknown): { readonly _bidiFirefox: { connectToTransport(transport: Transport, options: unknown): unknown } };
  };
}

/** Answers the unknown command in place of the browser: these tests need no colours of their own. */
function withoutUnknownCommand(): void {
  const { _bidiFirefox: inside } = (firefox as unknown as Inside)._connection.toImpl(firefox);
  const connect = inside.connectToTransport.bind(inside);
  inside.connectToTransport = (transport, options) => {
    const send = transport.send.bind(transport);
    transport.send = (message) => {
      if (message.method !== UNKNOWN_COMMAND) return send(message);
      queueMicrotask(() => transport.onmessage?.({ type: 'success', id: message.id, result: {} }));
    };
    return connect(transport, options);
  };
}

/** Firefox as Debian delivers it, with a profile of its own. */
export async function openFirefox(program: string): Promise<TestBrowser> {
  withoutUnknownCommand();
  const profile = await mkdtemp(join(await makeScratch(), 'firefox-'));
  const context = await firefox.launchPersistentContext(profile, {
    // By WebDriver BiDi, which every Firefox understands; without it Playwright expects its own build.
    channel: 'moz-firefox',
    executablePath: program,
    acceptDownloads: true,
    env: { ...process.env, LC_ALL: 'C.UTF-8' }, // else a machine without a locale has no names but ASCII ones
  });
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  closeAtEndOfTest(context);
  return {
    page: () => context.newPage(),
    close: async () => {
      await context.close();
      // A process of the browser may write there still.
      await rm(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
