import { SourceUnavailable } from './source-unavailable.ts';
import { lastLine, run } from './run.ts';

/**
 * A build that takes longer hangs, for example at a module proxy that does not answer. Shorter than the time that others wait for
 * it (cache.ts).
 */
const BUILD_LIMIT_MS = 40 * 60_000;

/**
 * The same for every program, so that what two of them import is compiled once. The linker drops the symbols (`-s -w`), so the
 * compiler need not write any.
 */
const COMPILED = '-gcflags=all=-dwarf=false';

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
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-v', COMPILED];
  const linked = `-ldflags=-s -w ${options.ldflags}`;
  const { code, output } = await run(options.compiler, ['build', ...flags, linked, '-o', options.into, options.main], {
    cwd: options.module,
    env: { ...options.env, CGO_ENABLED: '0', GOWORK: 'off' },
    timeoutMs: BUILD_LIMIT_MS,
    onLine: options.onLine,
  });
  if (code !== 0) throw new SourceUnavailable(`go build failed (${lastLine(output)})`);
}
