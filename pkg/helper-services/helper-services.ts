import { DEFAULT_MAX_UPLOAD_BYTES } from '../content/uploads/uploads.schema.ts';
import { Files } from '../content/model/files/files.service.ts';
import { VersionSchedule } from '../content/model/files/version-schedule.ts';
import type { Feature } from '../feature/feature.ts';
import { TaskRequests } from '../tasks/task-requests.ts';
import { HelperCalls, type HelperLimits } from './calls/helper-calls.ts';
import { HelperChecks } from './calls/helper-checks.ts';
import { helperEndpoints } from './helper-services.endpoints.ts';
import { HelperStates } from './helper-states.service.ts';
import { PdfRequests } from './pdf/pdf-requests.service.ts';
import { Translations } from './text/translations.service.ts';

/**
 * Translates texts and PDFs, and optimizes PDFs, with the helper services of the tenant. `limits`: tests replace the default
 * ones.
 */
export const helperServicesFeature = (limits: Partial<HelperLimits> = {}): Feature => ({
  name: 'helper services',
  create(services) {
    const { tenant, sealer, settings } = services;
    const seal = { tenantId: tenant.id, sealer };
    const checks = new HelperChecks(services);
    const calls = new HelperCalls({ ...services, limits });
    const deps = { ...services, seal, checks, calls, breakers: calls.breakers };
    const pdfs = new PdfRequests({
      ...deps,
      files: new Files(services),
      tasks: new TaskRequests(services),
      versions: new VersionSchedule(services),
      maxBytes: settings.maxUploadBytes ?? DEFAULT_MAX_UPLOAD_BYTES,
    });
    return { endpoints: helperEndpoints({ states: new HelperStates(deps), translations: new Translations(deps), pdfs }) };
  },
});
