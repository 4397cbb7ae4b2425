import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeImage } from './oci.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-oci-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Described {
  readonly digest: string;
  readonly size: number;
}

// Skipped on macOS: its tar writes other headers. `make test` on Linux runs it, CI too.
(process.platform === 'linux' ? describe : describe.skip)('on Linux, whose tar it needs', () => {
  test('an image has a layout whose digests and sizes are those of its files, and its files are root’s', async () => {
    const [root, into] = [join(folder, 'root'), join(folder, 'image')];
    mkdirSync(join(root, 'bin'), { recursive: true });
    writeFileSync(join(root, 'bin/program'), 'content', { mode: 0o755 });

    await writeImage({ root, reference: 'localhost/one:1', config: { Cmd: ['/bin/program'] }, into });

    const blob = ({ digest }: Described): Buffer => readFileSync(join(into, 'blobs/sha256', digest.replace('sha256:', '')));
    const index = JSON.parse(readFileSync(join(into, 'index.json'), 'utf8')) as {
      manifests: [Described & { annotations: object }];
    };
    const manifest = JSON.parse(blob(index.manifests[0]).toString()) as { config: Described; layers: [Described] };
    const described = [index.manifests[0], manifest.config, ...manifest.layers];
    expect(described.map((one) => `sha256:${createHash('sha256').update(blob(one)).digest('hex')}`)).toEqual(
      described.map(({ digest }) => digest),
    );
    expect(described.map((one) => blob(one).length)).toEqual(described.map(({ size }) => size));
    expect(readdirSync(join(into, 'blobs/sha256'))).toHaveLength(3);
    expect(index.manifests[0].annotations).toEqual({ 'io.containerd.image.name': 'localhost/one:1' });
    expect(JSON.parse(blob(manifest.config).toString())).toMatchObject({
      os: 'linux',
      config: { Cmd: ['/bin/program'] },
      rootfs: { diff_ids: [manifest.layers[0].digest] },
    });
    const listed = execFileSync(
      'tar',
      ['--numeric-owner', '-tvf', join(into, 'blobs/sha256', manifest.layers[0].digest.slice(7))],
      {
        encoding: 'utf8',
        env: { ...process.env, TZ: 'UTC' },
      },
    );
    expect(listed).toMatch(/^-rwxr-xr-x 0\/0 +7 1970-01-01 00:00 \.\/bin\/program$/m);
  });
});
