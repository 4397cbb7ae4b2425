import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { codeOf } from '../../runtime/command-error.ts';
import { readIfThere, writeAtomically } from '../files.ts';
import { addressOf, paths, type StateDirectory } from '../state-directory.ts';
import type { ProgramSpec } from '../supervisor.ts';
import { createAuthority, createCertificate, type CertificatePair } from './certificates.ts';

const SERVICE_ADDRESSES = '10.96.0.0/16';
/** The first address of SERVICE_ADDRESSES, which the API server uses for itself inside the cluster. */
const SERVICE_ADDRESS = '10.96.0.1';
/** A documentation address (RFC 5737): the setting requires an address that is not loopback, and nothing here uses it. */
const ADVERTISED = '192.0.2.1';

interface ControlPlaneBinaries {
  readonly etcd: string;
  readonly 'kube-apiserver': string;
  readonly 'kube-controller-manager': string;
}

/** Returns the files of `.carrel/pki`; `kubelet` belongs to the process node, for `kubectl logs`. */
export const pkiPaths = (stateDirectory: string) => {
  const folder = paths(stateDirectory).pki;
  const pair = (name: string) => ({ certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) });
  return {
    authority: pair('ca'),
    etcd: pair('etcd'),
    apiserver: pair('apiserver'),
    kubeletClient: pair('apiserver-kubelet-client'),
    kubelet: pair('kubelet'),
    serviceAccountKey: join(folder, 'service-accounts.key'),
    serviceAccountPublicKey: join(folder, 'service-accounts.pub'),
    tokens: join(folder, 'tokens.csv'),
    controllerManagerKubeconfig: join(folder, 'kube-controller-manager.kubeconfig'),
  };
};

/** The name in the client certificate with which the API server asks the node for logs. */
export const KUBELET_CLIENT = 'kube-apiserver-kubelet-client';

/**
 * Writes keys, tokens and kubeconfigs. Authority and service-account key are kept, since they signed tokens. A leaf costs nothing
 * and is made again, for the present address; this repairs leaves that were lost or truncated.
 */
export function writeCredentials(stateDirectory: StateDirectory, now: Date): void {
  const files = pkiPaths(stateDirectory.path);
  const { address, secrets } = stateDirectory.settings;
  const authority = keptAuthority(files.authority, now);
  const write = (to: { certificate: string; key: string }, pair: CertificatePair): void => {
    writeAtomically(to.certificate, pair.certificate);
    writeAtomically(to.key, pair.key);
  };
  const names = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'localhost',
  ];
  write(files.etcd, createCertificate(authority, { commonName: 'etcd' }, [address], now));
  write(
    files.apiserver,
    createCertificate(authority, { commonName: 'kube-apiserver' }, [address, SERVICE_ADDRESS, ...names], now),
  );
  write(files.kubelet, createCertificate(authority, { commonName: 'local' }, [address], now));
  write(files.kubeletClient, createCertificate(authority, { commonName: KUBELET_CLIENT }, [], now));
  keepServiceAccountKey(files);
  const tokens = [
    [secrets.adminToken, 'carrel-admin', 'carrel-admin', 'system:masters'],
    [secrets.controllerManagerToken, 'system:kube-controller-manager', 'kube-controller-manager', ''],
  ];
  writeAtomically(files.tokens, tokens.map((row) => `${row.map((field) => `"${field}"`).join(',')}\n`).join(''));
  writeAtomically(paths(stateDirectory.path).kubeconfig, kubeconfig(stateDirectory, authority.certificate, secrets.adminToken));
  writeAtomically(
    files.controllerManagerKubeconfig,
    kubeconfig(stateDirectory, authority.certificate, secrets.controllerManagerToken),
  );
}

function keptAuthority(files: { certificate: string; key: string }, now: Date): CertificatePair {
  const certificate = readIfThere(files.certificate);
  const key = readIfThere(files.key);
  if (certificate && key && isUsable(certificate, now)) return { certificate, key };
  const made = createAuthority('carrel-local', now);
  writeAtomically(files.key, made.key);
  writeAtomically(files.certificate, made.certificate);
  return made;
}

function isUsable(certificate: string, now: Date): boolean {
  try {
    const { validFromDate, validToDate } = new X509Certificate(certificate);
    // An authority that was made while the clock was ahead is not valid yet.
    return validFromDate.getTime() <= now.getTime() && validToDate.getTime() > now.getTime() + 30 * 86_400_000;
  } catch {
    return false;
  }
}

function keepServiceAccountKey(files: { serviceAccountKey: string; serviceAccountPublicKey: string }): void {
  if (readIfThere(files.serviceAccountKey) && readIfThere(files.serviceAccountPublicKey)) return;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeAtomically(files.serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }) as string);
  writeAtomically(files.serviceAccountPublicKey, publicKey.export({ type: 'spki', format: 'pem' }) as string);
}

const kubeconfig = (stateDirectory: StateDirectory, authority: string, token: string): string =>
  `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'carrel',
      clusters: [
        {
          name: 'carrel',
          cluster: {
            server: apiserverUrl(stateDirectory),
            'certificate-authority-data': Buffer.from(authority).toString('base64'),
          },
        },
      ],
      users: [{ name: 'carrel', user: { token } }],
      contexts: [{ name: 'carrel', context: { cluster: 'carrel', user: 'carrel' } }],
    },
    null,
    2,
  )}\n`;

export const apiserverUrl = (stateDirectory: StateDirectory): string => `https://${addressOf(stateDirectory, 'apiserver')}`;

/** Returns etcd, kube-apiserver and kube-controller-manager, in the order in which they wait for each other. */
export function controlPlaneSpecs(
  stateDirectory: StateDirectory,
  binaries: ControlPlaneBinaries,
  options: { durable: boolean },
): ProgramSpec[] {
  return [
    etcdSpec(stateDirectory, binaries.etcd, options),
    apiserverSpec(stateDirectory, binaries['kube-apiserver']),
    controllerManagerSpec(stateDirectory, binaries['kube-controller-manager']),
  ];
}

function etcdSpec(stateDirectory: StateDirectory, program: string, options: { durable: boolean }): ProgramSpec {
  const files = pkiPaths(stateDirectory.path);
  const data = join(paths(stateDirectory.path).data, 'etcd');
  const url = `https://${addressOf(stateDirectory, 'etcd')}`;
  const peer = `https://${addressOf(stateDirectory, 'etcdPeer')}`;
  return {
    name: 'etcd',
    command: program,
    args: [
      ...flags({
        name: 'local',
        'data-dir': data,
        'listen-client-urls': url,
        'advertise-client-urls': url,
        'listen-peer-urls': peer,
        'initial-advertise-peer-urls': peer,
        'initial-cluster': `local=${peer}`,
        'cert-file': files.etcd.certificate,
        'key-file': files.etcd.key,
        'trusted-ca-file': files.authority.certificate,
        'client-cert-auth': 'true',
        // etcd has no peers, but the port is open anyway, and any raft peer there could write what the API server reads.
        'peer-cert-file': files.etcd.certificate,
        'peer-key-file': files.etcd.key,
        'peer-trusted-ca-file': files.authority.certificate,
        'peer-client-cert-auth': 'true',
        'log-level': 'warn',
        'auto-compaction-retention': '5m',
        'unsafe-no-fsync': String(!options.durable),
      }),
    ],
    after: [],
    prepare: () => {
      mkdirSync(data, { recursive: true, mode: 0o700 });
    },
    ready: (signal) => probe(stateDirectory, `${url}/health`, signal, files.etcd),
  };
}

function apiserverSpec(stateDirectory: StateDirectory, program: string): ProgramSpec {
  const files = pkiPaths(stateDirectory.path);
  return {
    name: 'kube-apiserver',
    command: program,
    args: flags({
      'bind-address': stateDirectory.settings.address,
      'secure-port': stateDirectory.settings.ports.apiserver,
      'advertise-address': ADVERTISED,
      'endpoint-reconciler-type': 'none',
      'etcd-servers': `https://${addressOf(stateDirectory, 'etcd')}`,
      'etcd-cafile': files.authority.certificate,
      'etcd-certfile': files.etcd.certificate,
      'etcd-keyfile': files.etcd.key,
      'service-cluster-ip-range': SERVICE_ADDRESSES,
      'tls-cert-file': files.apiserver.certificate,
      'tls-private-key-file': files.apiserver.key,
      'client-ca-file': files.authority.certificate,
      'token-auth-file': files.tokens,
      'anonymous-auth': 'false',
      'authorization-mode': 'RBAC',
      'allow-privileged': 'false',
      profiling: 'false',
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-account-key-file': files.serviceAccountPublicKey,
      'service-account-signing-key-file': files.serviceAccountKey,
      'kubelet-client-certificate': files.kubeletClient.certificate,
      'kubelet-client-key': files.kubeletClient.key,
      'kubelet-certificate-authority': files.authority.certificate,
      'kubelet-preferred-address-types': 'InternalIP',
      'shutdown-delay-duration': '0s',
    }),
    after: ['etcd'],
    ready: (signal) => probe(stateDirectory, `${apiserverUrl(stateDirectory)}/readyz`, signal),
  };
}

/**
 * Disabled: controllers that make EndpointSlices (they refuse loopback addresses, and the router needs none), and controllers for
 * clouds and disks.
 */
const CONTROLLERS_OFF = [
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'node-ipam-controller',
  'node-route-controller',
  'cloud-node-lifecycle-controller',
  'service-lb-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolume-expander-controller',
];

function controllerManagerSpec(stateDirectory: StateDirectory, program: string): ProgramSpec {
  const files = pkiPaths(stateDirectory.path);
  const kubeconfig = files.controllerManagerKubeconfig;
  return {
    name: 'kube-controller-manager',
    command: program,
    args: flags({
      kubeconfig,
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': stateDirectory.settings.address,
      'secure-port': stateDirectory.settings.ports.controllerManager,
      'tls-cert-file': files.apiserver.certificate,
      'tls-private-key-file': files.apiserver.key,
      'leader-elect': 'false',
      'use-service-account-credentials': 'true',
      'root-ca-file': files.authority.certificate,
      'service-account-private-key-file': files.serviceAccountKey,
      'flex-volume-plugin-dir': join(paths(stateDirectory.path).data, 'volume-plugins'),
      profiling: 'false',
      controllers: ['*', ...CONTROLLERS_OFF.map((name) => `-${name}`)].join(','),
    }),
    after: ['kube-apiserver'],
    ready: (signal) => probe(stateDirectory, `https://${addressOf(stateDirectory, 'controllerManager')}/healthz`, signal),
  };
}

const flags = (settings: Record<string, string | number>): string[] =>
  Object.entries(settings).map(([name, value]) => `--${name}=${value}`);

/**
 * Sends a GET to a program of the control plane, with its authority, as the administrator or with a client certificate. Throws an
 * Error with the reply unless it is 200.
 */
export async function probe(
  stateDirectory: StateDirectory,
  url: string,
  signal: AbortSignal,
  client?: { certificate: string; key: string },
): Promise<void> {
  const ca = readIfThere(pkiPaths(stateDirectory.path).authority.certificate);
  const pair = client ? { cert: readIfThere(client.certificate), key: readIfThere(client.key) } : {};
  const agent = new Agent({ connect: { ...(ca === undefined ? {} : { ca }), ...pair } });
  try {
    const answer = await fetch(url, {
      dispatcher: agent,
      signal,
      headers: client ? {} : { authorization: `Bearer ${stateDirectory.settings.secrets.adminToken}` },
    });
    const text = await answer.text();
    if (answer.status !== 200)
      throw new Error(
        `${url} answers ${answer.status}: ${text.split('\n').find((line) => line.includes('failed')) ?? text.slice(0, 100)}`,
      );
  } catch (error) {
    const cause = (error as Error).cause;
    throw cause instanceof Error ? new Error(`${url}: ${codeOf(cause) ?? cause.message}`) : error;
  } finally {
    await agent.destroy();
  }
}
