import { endStartUp } from '../../pkg/runtime/start-up-memory.ts';
import { readConfig } from '../../pkg/runtime/config.ts';
import { createLogger, type Logger, silentLogger } from '../../pkg/runtime/log.ts';
import { runProgram } from '../../pkg/runtime/program.ts';
import { startTraces } from '../../pkg/runtime/trace-settings.ts';
import { trustCertificates } from '../../pkg/runtime/trusted-certificates.ts';
import { serverConfigSchema } from './config.ts';

let log: Logger = silentLogger;

await runProgram(
  () => log,
  async (program) => {
    log = createLogger({ program: 'server' });
    const config = readConfig('server', serverConfigSchema, process.env);
    trustCertificates(config.CARREL_TRUSTED_CERTIFICATES);
    const attributes = { 'carrel.tenant': config.CARREL_TENANT_SLUG };
    program.onStop('traces', await startTraces(config, { program: 'server', attributes, trustsParents: false, log: () => log }));
    log = createLogger({ program: 'server', level: config.CARREL_LOG_LEVEL }).child({ tenant: config.CARREL_TENANT_SLUG });
    const { createServer } = await import('./server.ts');
    const server = await createServer(config, { log });
    endStartUp();
    program.onStop('server', () => server.stop());
  },
);
