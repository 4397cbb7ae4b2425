import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import { lastLine, run } from '../../pkg/local/binaries/run.ts';

/** The defaults of a container of the image (image-spec, Image Configuration). */
export interface ImageConfig {
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const TAR_LIMIT_MS = 120_000;

/**
 * Writes an image of one layer into the empty folder `into`, as an OCI image layout (image-spec 1.1). `root` is its file system,
 * whose files become root's; `reference` its full name, `docker.io/library/carrel:0.1.0`.
 */
export async function writeImage(options: { root: string; reference: string; config: ImageConfig; into: string }): Promise<void> {
  const { root, reference, config, into } = options;
  const blobs = join(into, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const blob = (content: object): { digest: string; size: number } => {
    const text = JSON.stringify(content);
    const digest = createHash('sha256').update(text).digest('hex');
    writeFileSync(join(blobs, digest), text);
    return { digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
  };
  const layer = await writeLayer(root, blobs);
  const platform = { architecture: ARCHITECTURES[process.arch] ?? process.arch, os: 'linux' };
  const configuration = blob({ ...platform, config, rootfs: { type: 'layers', diff_ids: [layer.digest] } });
  const manifest = blob({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...configuration },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', ...layer }],
  });
  const annotations = { 'io.containerd.image.name': reference };
  const described = { mediaType: 'application/vnd.oci.image.manifest.v1+json', ...manifest, platform, annotations };
  writeFileSync(join(into, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [described] }));
  writeFileSync(join(into, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
}

async function writeLayer(root: string, blobs: string): Promise<{ digest: string; size: number }> {
  const file = join(blobs, 'layer');
  const flags = ['--numeric-owner', '--owner=0', '--group=0', '--sort=name', '--mtime=@0', '-C', root, '-cf', file, '.'];
  const { code, output } = await run('tar', flags, { timeoutMs: TAR_LIMIT_MS });
  if (code !== 0) throw new CommandError(`tar failed (${lastLine(output)})`);
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  const digest = hash.digest('hex');
  renameSync(file, join(blobs, digest));
  return { digest: `sha256:${digest}`, size: statSync(join(blobs, digest)).size };
}
