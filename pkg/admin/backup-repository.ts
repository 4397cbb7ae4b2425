import { BucketRepository } from '../tenantdata/repository/bucket.ts';
import { FolderRepository } from '../tenantdata/repository/folder.ts';
import type { Repository } from '../tenantdata/repository/repository.ts';
import { CommandError } from '../runtime/command-error.ts';

/**
 * Returns the repository of backups: a folder, or s3://bucket/prefix with the key and endpoint of the usual variables of S3
 * clients. Throws CommandError.
 */
export function repositoryOf(text: string, env: NodeJS.ProcessEnv): Repository {
  if (!text.startsWith('s3:')) {
    if (/^[a-z][a-z0-9+.-]*:\/\//.test(text)) throw new CommandError(`${text} is neither a folder nor s3://<bucket>/<prefix>`);
    return new FolderRepository(text);
  }
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  if (!found) throw new CommandError(`${text} is not s3://<bucket>/<prefix>`);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey)
    throw new CommandError(`AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set. Set them to a key of bucket ${found[1]}`);
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1';
  const endpoint = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || `https://s3.${region}.amazonaws.com`;
  if (!URL.canParse(endpoint)) throw new CommandError(`AWS_ENDPOINT_URL is ${endpoint}, which is not an address`);
  const prefix = (found[2] ?? '').replace(/\/+$/, '');
  return new BucketRepository({
    endpoint,
    region,
    accessKeyId,
    secretAccessKey,
    bucket: found[1] ?? '',
    prefix: prefix && `${prefix}/`,
  });
}
