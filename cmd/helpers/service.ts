import type { Server } from 'node:http';
import { PdfConversions } from '../../pkg/helpers/pdf/conversions.ts';
import { PdfOptimiser } from '../../pkg/helpers/pdf/optimise/optimiser.ts';
import { PdfTranslator } from '../../pkg/helpers/pdf/translate/pdf-translator.ts';
import { createService } from '../../pkg/helpers/service.ts';
import { Slots } from '../../pkg/helpers/slots.ts';
import type { Provider } from '../../pkg/helpers/translator/provider.ts';
import { Translator } from '../../pkg/helpers/translator/translator.ts';
import type { Clock } from '../../pkg/runtime/clock.ts';
import type { Logger } from '../../pkg/runtime/log.ts';
import type { Metrics } from '../../pkg/runtime/metrics.ts';
import type { HelpersConfig } from './config.ts';
import { programOnPath } from './programs.ts';
import { MIB } from '../../pkg/runtime/bytes.ts';

const slots = (running: number): Slots => new Slots({ running, waiting: 4 * running });

/** Returns the helpers' HTTP server with these settings. */
export function serviceOf(
  config: HelpersConfig,
  { providers, clock, log, metrics }: { providers: readonly Provider[]; clock: Clock; log: Logger; metrics: Metrics },
): Server {
  const timeoutMs = config.CARREL_HELPERS_TIMEOUT_SECONDS * 1000;
  const pdfs = slots(config.CARREL_HELPERS_PDF_CONCURRENCY);
  const limits = {
    maxBytes: config.CARREL_HELPERS_PDF_MAX_MIB * MIB,
    maxPages: config.CARREL_HELPERS_PDF_MAX_PAGES,
    memoryBytes: config.CARREL_HELPERS_PDF_MEMORY_MIB * MIB,
  };
  const conversions = new PdfConversions({ limits, slots: pdfs, timeoutMs, log });
  const programs = Object.fromEntries(
    config.CARREL_HELPERS_PDF_PROGRAMS.flatMap((name) => {
      const path = programOnPath(name);
      return path === undefined ? [] : [[name, path]];
    }),
  );
  const translator = new Translator({ providers, clock, log, metrics });
  return createService({
    translator,
    texts: slots(config.CARREL_HELPERS_CONCURRENCY),
    pdfs,
    conversions,
    optimiser: new PdfOptimiser({ conversions, programs, log }),
    pdfTranslator: new PdfTranslator({ conversions, translator }),
    tokens: config.CARREL_HELPERS_TOKEN,
    timeoutMs,
    metrics,
    log,
  });
}
