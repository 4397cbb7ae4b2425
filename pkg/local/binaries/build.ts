import { basename } from 'node:path';
import { SourceUnavailable } from './source-unavailable.ts';
import { lastLine, run } from './run.ts';

/**
 * A build that takes longer hangs, for example at a module proxy that does not answer. Shorter than the time that others wait for
 * it (cache.ts).
 */
const BUILD_LIMIT_MS = 40 * 60_000;

/** The modules whose programs run as long as the platform does. Those of the others serve tests, for seconds at a time. */
const LONG_RUNNING: ReadonlySet<string> = new Set(['kubernetes', 'etcd', 'versitygw']);
/** Nobody debugs these programs: `-s -w` drops the symbols, so the compiler need not write any. */
const WITHOUT_SYMBOLS = '-dwarf=false';
/** Saves a quarter of the CPU of a build, and makes the program slower. */
const WITHOUT_INLINING = '-l';

/**
 * Builds `main` of the Go module in the folder `module` into the file `into`: static, without paths of this machine. It builds
 * exactly what go.sum lists (`-mod=readonly`). Throws SourceUnavailable with the compiler's last line.
 */
export async function buildWithGo(options: {
  compiler: string;
  module: string;
  main: string;
  ldflags: string;
  into: string;
  env: NodeJS.ProcessEnv;
  onLine: (line: string) => void;
}): Promise<void> {
  const compiled = LONG_RUNNING.has(basename(options.module)) ? WITHOUT_SYMBOLS : `${WITHOUT_SYMBOLS} ${WITHOUT_INLINING}`;
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-v', `-gcflags=all=${compiled}`];
  const linked = `-ldflags=-s -w ${options.ldflags}`;
  const { code, output } = await run(options.compiler, ['build', ...flags, linked, '-o', options.into, options.main], {
    cwd: options.module,
    env: { ...options.env, CGO_ENABLED: '0', GOWORK: 'off' },
    timeoutMs: BUILD_LIMIT_MS,
    onLine: options.onLine,
  });
  if (code !== 0) throw new SourceUnavailable(`go build failed (${lastLine(output)})`);
}
