/**
 * Writes the types of the API's operations for the browser's pages, from the OpenAPI document that a server of this build would
 * serve: `node hack/api-types/main.ts`. It starts no server and connects to nothing. git ignores the result: it is made again
 * before each check of the types.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { FEATURES } from '../../cmd/server/features.ts';
import { serverConfigSchema } from '../../cmd/server/config.ts';
import { createServices } from '../../cmd/server/services.ts';
import { createFeatures } from '../../pkg/feature/feature.ts';
import { openApiDocument } from '../../pkg/http/openapi/document.ts';

import { typesOfDocument } from './typescript.ts';

const OUTPUT = join(import.meta.dirname, '../../pkg/web/api/operations.generated.ts');

/** Settings by which a server could be built; none of the back ends is asked. */
const settings = {
  CARREL_TENANT_SLUG: 'example',
  CARREL_TENANT_ID: '1',
  CARREL_APP_URL: 'https://files.example.org',
  CARREL_DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:1/nothing',
  CARREL_REDIS_URL: 'redis://127.0.0.1:1',
  CARREL_S3_ENDPOINT: 'http://127.0.0.1:1',
  CARREL_S3_BUCKET: 'nothing',
  CARREL_S3_ACCESS_KEY_ID: 'nobody',
  CARREL_S3_SECRET_ACCESS_KEY: 'nothing',
  CARREL_SIGNING_KEYS: JSON.stringify({
    keys: [
      { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), kid: 'none', alg: 'ES256' },
    ],
  }),
  CARREL_DATA_KEYS: JSON.stringify({ keys: [{ id: 'none', key: randomBytes(32).toString('base64') }] }),
};

const services = await createServices(serverConfigSchema.parse(settings), FEATURES, { log: pino({ enabled: false }) });
const { endpoints } = createFeatures(FEATURES, services);
const document = openApiDocument({ endpoints, apiUrl: services.addresses.apiUrl, tenant: services.tenant });
await services.close();
const types = typesOfDocument(document);
if (types !== written()) writeFileSync(OUTPUT, types);
process.exit(0);

function written(): string | undefined {
  try {
    return readFileSync(OUTPUT, 'utf8');
  } catch {
    return undefined;
  }
}
