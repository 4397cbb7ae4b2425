import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { StorageAdmin } from '../../pkg/store/s3/admin.ts';
import { signIn, waitReady } from '../support/programs/demo-tenant.ts';
import { kubectlOk, secretValues } from '../support/programs/platform.ts';
import { waitFor } from '../support/wait.ts';
import { podNames, SPACE, TENANT } from './biology.ts';
import { carrelInOperator, inSystem } from './in-system.ts';
import { type Installation, NAMESPACE } from './installation.ts';

const BUCKET = 'backups';
const REPOSITORY = `s3://${BUCKET}/daily`;

/** Backs up by the chart's CronJob, and restores by the command of docs/operate/backup-move-restore.md in the operator's pod. */
export async function comesBackFromBackup(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  await makeBucket(carrel);
  await carrel.upgrade({
    backup: { enabled: true, repository: REPOSITORY, endpoint: 'http://carrel-versitygw.carrel-system:7070' },
  });
  await carrel.rolledOut();
  const { admin } = await signIn(platform, SPACE, TENANT);
  const content = Buffer.from('root, stem and leaf');
  const file = (await admin.upload('/files', { file: content, name: 'plan.txt' })).body;

  await inSystem(carrel, 'create', 'job', 'first-backup', '--from=cronjob/carrel-backup');
  await inSystem(carrel, 'wait', '--for=condition=complete', 'job/first-backup', '--timeout=90s');
  assert.match(
    await inSystem(carrel, 'logs', 'job/first-backup'),
    /^biology: backed up to s3:\/\/backups\/daily\/ as \d{8}T\d{6}Z, and read back: /,
  );
  assert.match(
    await carrelInOperator(carrel, 'tenants', 'backups', TENANT, '--at', REPOSITORY, '--verify'),
    /Every byte is as it was written\./,
  );

  assert.equal((await admin.delete(`/files/${file.id}?permanent=true`)).status, 204);
  await suspend(carrel, true);
  await waitFor('the end of its pods', async () => (await podNames(carrel)).length === 0);
  const restored = await waitFor('the restore', () =>
    carrelInOperator(carrel, 'tenants', 'restore', TENANT, '--from', REPOSITORY, '--replace').catch(untilUnused),
  );
  assert.match(restored, /^biology: restored as of /);
  await suspend(carrel, false);
  await waitReady(platform, SPACE, `tenant/${TENANT}`);
  const again = await signIn(platform, SPACE, TENANT);
  const found = await again.admin.get(`/files/${file.id}/download`);
  assert.equal(found.status, 200);
  assert.ok(found.bytes.equals(content));
}

/** The operator locks the role as soon as it sees that the last pod has ended. */
function untilUnused(error: unknown): undefined {
  if (error instanceof Error && error.message.includes('is in use')) return undefined;
  throw error;
}

async function makeBucket(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  const host = (await inSystem(carrel, 'get', 'service', 'carrel-versitygw', '-o', 'jsonpath={.spec.clusterIP}')).trim();
  const root = await secretValues(platform, NAMESPACE, 'carrel-object-store');
  const admin = new StorageAdmin({
    endpoint: `http://${host}:7070`,
    adminEndpoint: `http://${host}:7071`,
    region: 'us-east-1',
    accessKeyId: root['access-key-id'] ?? '',
    secretAccessKey: root['secret-access-key'] ?? '',
  });
  const secretAccessKey = randomBytes(20).toString('hex');
  await admin.ensureBucketWithUser({ bucket: BUCKET, accessKeyId: BUCKET, secretAccessKey });
  admin.close();
  const keys = [`--from-literal=access-key-id=${BUCKET}`, `--from-literal=secret-access-key=${secretAccessKey}`];
  await inSystem(carrel, 'create', 'secret', 'generic', 'carrel-backup', ...keys);
}

const suspend = ({ platform }: Installation, suspended: boolean): Promise<string> =>
  kubectlOk(platform, ['-n', SPACE, 'patch', 'tenant', TENANT, '--type=merge', '-p', JSON.stringify({ spec: { suspended } })]);
