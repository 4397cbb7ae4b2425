import type { Feature } from '../../feature/feature.ts';
import { Files } from '../model/files/files.service.ts';
import { metadataEndpoints } from './metadata.endpoints.ts';
import { Metadata } from './metadata.service.ts';

/** Typed metadata of files. It goes and is handed over with its file. */
export const metadata: Feature = {
  name: 'metadata',
  create: (services) => ({ endpoints: metadataEndpoints(new Metadata({ ...services, files: new Files(services) })) }),
};
