import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, createCertificate, type CertificatePair, type Subject } from '../../pkg/local/programs/certificates.ts';
import { NETWORK, NODE_NAME, type Layout } from './layout.ts';

const API_NAMES = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];

/** The clients of the API server that have kubeconfigs of their own. */
const CLIENTS: Readonly<Record<string, Subject>> = {
  admin: { commonName: 'admin', organization: 'system:masters' },
  'controller-manager': { commonName: 'system:kube-controller-manager' },
  scheduler: { commonName: 'system:kube-scheduler' },
  proxy: { commonName: 'system:kube-proxy' },
  kubelet: { commonName: `system:node:${NODE_NAME}`, organization: 'system:nodes' },
};

/** Authorities, certificates and kubeconfigs of a new cluster. */
export function writeCredentials(layout: Layout, now: Date): void {
  mkdirSync(layout.pki, { recursive: true, mode: 0o700 });
  const write = (name: string, { certificate, key }: CertificatePair): void => {
    writeFileSync(join(layout.pki, `${name}.crt`), certificate);
    writeFileSync(join(layout.pki, `${name}.key`), key, { mode: 0o600 });
  };
  const authority = (name: string): CertificatePair => {
    const pair = createAuthority(name, now);
    write(name, pair);
    return pair;
  };
  const [kubernetes, etcd, frontProxy] = [authority('kubernetes-ca'), authority('etcd-ca'), authority('front-proxy-ca')];
  write('etcd', createCertificate(etcd, { commonName: 'etcd' }, ['127.0.0.1'], now));
  write('etcd-client', createCertificate(etcd, { commonName: 'kube-apiserver' }, [], now));
  write('front-proxy', createCertificate(frontProxy, { commonName: 'front-proxy-client' }, [], now));
  const served = [NETWORK.nodeAddress, NETWORK.apiService, '127.0.0.1', ...API_NAMES];
  write('apiserver', createCertificate(kubernetes, { commonName: 'kube-apiserver' }, served, now));
  write('kubelet-client', createCertificate(kubernetes, { commonName: 'kube-apiserver-kubelet-client' }, [], now));
  write('kubelet-server', createCertificate(kubernetes, { commonName: NODE_NAME }, [NETWORK.nodeAddress, NODE_NAME], now));
  for (const [name, subject] of Object.entries(CLIENTS)) {
    const pair = createCertificate(kubernetes, subject, [], now);
    writeFileSync(
      name === 'admin' ? layout.kubeconfig : join(layout.folder, `${name}.kubeconfig`),
      kubeconfig(kubernetes.certificate, pair),
      { mode: 0o600 },
    );
  }
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(join(layout.pki, 'service-accounts.key'), privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(layout.pki, 'service-accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const kubeconfig = (authority: string, client: CertificatePair): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'node',
    clusters: [
      {
        name: 'node',
        cluster: { server: `https://${NETWORK.nodeAddress}:6443`, 'certificate-authority-data': base64(authority) },
      },
    ],
    users: [
      { name: 'node', user: { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) } },
    ],
    contexts: [{ name: 'node', context: { cluster: 'node', user: 'node' } }],
  });
