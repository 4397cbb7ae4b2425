import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { CHART, helm } from '../../hack/helm.ts';
import { writeCarrelImages } from '../../hack/node/images.ts';
import type { OneNodeCluster } from '../../hack/node/node.ts';
import { resolveBinary, thisMachine } from '../../pkg/local/binaries/resolve.ts';
import { run } from '../../pkg/local/binaries/run.ts';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import { type CertificatePair, createAuthority, createCertificate } from '../../pkg/local/programs/certificates.ts';
import { type RunningRouter, startRouter } from '../../pkg/local/router/router.ts';
import { KubeClient } from '../../pkg/kube/transport.ts';
import { systemClock } from '../../pkg/runtime/clock.ts';
import { silentLogger } from '../../pkg/runtime/log.ts';
import { createMetrics } from '../../pkg/runtime/metrics.ts';
import { ROOT } from '../support/backends/backends.ts';
import type { Platform } from '../support/programs/platform.ts';
import { type Connections, watchConnections } from './connections.ts';
import { SPACE } from './biology.ts';
import { receiverObjects, RECEIVER_NAMES } from './receiver.ts';

export const NAMESPACE = 'carrel-system';
/** The volume claims of the chart's trial stores. */
const CLAIMS = {
  'data-carrel-postgres-0': '5Gi',
  'data-carrel-valkey-0': '1Gi',
  'files-carrel-versitygw-0': '20Gi',
  'users-carrel-versitygw-0': '64Mi',
};
const LOG_LINE = 300;
const INSTALL_LIMIT_MS = 120_000;

/** Carrel on the cluster, and what is outside of it: an Ingress controller and a receiver of webhooks. */
export class Installation {
  readonly cluster: OneNodeCluster;
  readonly say: (line: string) => void;
  /** The authority of outside programs: a receiver of webhooks, an LMS. */
  readonly authority: CertificatePair = createAuthority('outside', new Date());
  readonly #folder: string;
  /** Made while the cluster starts. */
  readonly #images: Promise<string[]>;
  /** Watched from the first pod on. */
  connections: Connections | undefined;
  #router: RunningRouter | undefined;
  #client: KubeClient | undefined;

  constructor(cluster: OneNodeCluster, say: (line: string) => void) {
    this.cluster = cluster;
    this.say = say;
    this.#folder = cluster.layout.scratch;
    this.#images = writeCarrelImages(cluster.binaries, this.#folder);
    this.#images.catch(() => {}); // reported by loadImages
  }

  /** For the tools that the end-to-end tests use on a platform of processes. */
  get platform(): Platform {
    return { stateDirectory: this.cluster.layout.folder, port: this.#router?.port ?? 0 };
  }

  async loadImages(): Promise<void> {
    this.connections = watchConnections(this.cluster);
    for (const image of await this.#images) await this.cluster.load(image);
  }

  /** The lines of docs/operate/install.md, as they stand there, on a cluster whose volumes are made by hand. */
  async install(): Promise<void> {
    for (const [claim, size] of Object.entries(CLAIMS)) await this.cluster.addVolume(NAMESPACE, claim, size);
    symlinkSync(await resolveBinary('helm', thisMachine(ROOT)), join(this.cluster.layout.bin, 'helm'));
    await this.runLines('try', INSTALL_LIMIT_MS);
  }

  /**
   * Runs the lines of docs/operate/install.md between `<!-- name -->` and `<!-- /name -->`. Returns their output. Throws
   * CommandError when one fails.
   */
  async runLines(name: string, timeoutMs: number): Promise<string> {
    const page = readFileSync(join(ROOT, 'docs/operate/install.md'), 'utf8');
    const [, lines] = new RegExp(`<!-- ${name} -->\\s*\`\`\`sh\\n([\\s\\S]*?)\`\`\`\\s*<!-- /${name} -->`).exec(page) ?? [];
    if (lines === undefined) throw new CommandError(`docs/operate/install.md has no lines ${name}`);
    const { layout } = this.cluster;
    const env = { PATH: `${layout.bin}:${process.env['PATH']}`, HOME: this.#folder, KUBECONFIG: layout.kubeconfig };
    const { code, output } = await run('bash', ['-eu', '-c', lines], { cwd: ROOT, env, timeoutMs });
    if (code !== 0) throw new CommandError(`the lines of docs/operate/install.md failed: ${output}`);
    return output;
  }

  /** Waits until every workload of the release runs what it should. */
  async rolledOut(): Promise<void> {
    const names = (await this.cluster.kubectl('-n', NAMESPACE, 'get', 'statefulsets,deployments', '-o', 'name'))
      .trim()
      .split('\n');
    for (const name of names) await this.cluster.kubectl('-n', NAMESPACE, 'rollout', 'status', name, '--timeout=90s');
  }

  /** `helm upgrade` with these values besides those of before. */
  async upgrade(values: object): Promise<void> {
    const file = join(this.#folder, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    const { code, output } = await helm(
      ['upgrade', 'carrel', CHART, '--namespace', NAMESPACE, '--reuse-values', '--values', file],
      {
        folder: this.#folder,
        env: { KUBECONFIG: this.cluster.layout.kubeconfig },
      },
    );
    if (code !== 0) throw new CommandError(`helm upgrade failed: ${output}`);
  }

  /** The router of the platform on one machine, as the cluster's Ingress controller; it connects to pods. Returns its port. */
  async startIngressController(): Promise<number> {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(this.cluster.layout.kubeconfig);
    const metrics = createMetrics('test');
    this.#client = new KubeClient({ kubeConfig, metrics });
    this.#router = await startRouter({
      client: this.#client,
      port: 0,
      fixed: new Map(),
      clock: systemClock,
      log: silentLogger,
      metrics,
    });
    return this.#router.port;
  }

  /** An HTTPS receiver in a pod. Returns the values of the chart by which the release trusts its authority. */
  async startReceiver(): Promise<object> {
    const pair = createCertificate(this.authority, { commonName: 'receiver' }, RECEIVER_NAMES, new Date());
    await this.cluster.apply(...receiverObjects(pair), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'outside-ca', namespace: NAMESPACE },
      data: { 'ca.crt': this.authority.certificate },
    });
    await this.cluster.kubectl('-n', 'outside', 'rollout', 'status', 'deployment/receiver', '--timeout=90s');
    return { configMapName: 'outside-ca' };
  }

  /** Returns a report for a person who asks why: pods, events, and the last lines of pods that are not ready. */
  async picture(): Promise<string> {
    const ask = async (...args: string[]): Promise<string> =>
      (await this.cluster.inside(this.cluster.binaries.kubectl, '--kubeconfig', this.cluster.layout.kubeconfig, ...args)).output;
    const logs = await Promise.all(
      ['operator', 'worker', 'server', 'postgres', 'valkey', 'valkey-queue', 'versitygw'].map(async (component) => {
        const namespace = component === 'server' ? SPACE : NAMESPACE;
        const text = await ask('-n', namespace, 'logs', '-l', `app.kubernetes.io/component=${component}`, '--tail=5');
        return [`--- ${component}`, ...text.split('\n').map((line) => line.slice(0, LOG_LINE))].join('\n');
      }),
    );
    const events = await ask('get', 'events', '-A', '--field-selector=type=Warning', '--sort-by=.lastTimestamp');
    return [
      await ask('get', 'pods,tenants,webhooks', '-A', '-o', 'wide'),
      events.split('\n').slice(-15).join('\n'),
      ...logs,
    ].join('\n');
  }

  async close(): Promise<void> {
    this.connections?.stop();
    // It runs programs that write below the cluster's folder.
    await this.#images.catch(() => []);
    await this.#router?.stop();
    await this.#client?.close();
  }
}
