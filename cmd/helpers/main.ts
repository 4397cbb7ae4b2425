import type { AddressInfo } from 'node:net';
import { removeAbandonedFolders } from '../../pkg/helpers/pdf/conversions.ts';
import { systemClock } from '../../pkg/runtime/clock.ts';
import { readConfig } from '../../pkg/runtime/config.ts';
import { createLogger, type Logger, silentLogger } from '../../pkg/runtime/log.ts';
import { createMetrics } from '../../pkg/runtime/metrics.ts';
import { closeServer, listen, startOpsServer } from '../../pkg/runtime/ops-server.ts';
import { runProgram } from '../../pkg/runtime/program.ts';
import { trustCertificates } from '../../pkg/runtime/trusted-certificates.ts';
import { helpersConfigSchema } from './config.ts';
import { configuredProviders } from './providers.ts';
import { serviceOf } from './service.ts';

let log: Logger = silentLogger;

await runProgram(
  () => log,
  async (program) => {
    log = createLogger({ program: 'helpers' });
    const config = readConfig('helpers', helpersConfigSchema, process.env);
    trustCertificates(config.CARREL_TRUSTED_CERTIFICATES_FILE);
    log = createLogger({ program: 'helpers', level: config.CARREL_LOG_LEVEL });
    const metrics = createMetrics('helpers');
    const providers = configuredProviders(config);
    await removeAbandonedFolders();
    const service = serviceOf(config, { providers, clock: systemClock, log, metrics });
    await listen(service, config.CARREL_HELPERS_PORT, config.CARREL_LISTEN_HOST);
    program.onStop('service', () => closeServer(service));
    const ready = (): string | null => (program.stopping.aborted ? 'stopping' : null);
    const ops = await startOpsServer({ host: config.CARREL_LISTEN_HOST, port: config.CARREL_OPS_PORT, metrics, ready });
    program.onStop('ops', () => ops.close());
    const { port } = service.address() as AddressInfo;
    log.info({ port, opsPort: ops.port, providers: providers.map(({ name }) => name) }, 'started');
  },
);
