import type { CertificatePair } from '../../pkg/local/programs/certificates.ts';
import { kubectlOk, type Platform } from '../support/programs/platform.ts';
import type { Received } from '../support/fakes/receiver.ts';

export const OUTSIDE = 'outside';
const LABELS = { app: 'receiver' };
export const RECEIVER_NAMES = ['receiver.outside.svc.cluster.local'];
export const RECEIVER_URL = `https://${RECEIVER_NAMES[0]}/hook`;

/** Prints each delivery as a line of JSON. */
const PROGRAM = `
const { readFileSync } = require('node:fs');
const options = { cert: readFileSync('/tls/tls.crt'), key: readFileSync('/tls/tls.key') };
require('node:https').createServer(options, async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  console.log(JSON.stringify({ headers: request.headers, body }));
  response.writeHead(204).end();
}).listen(8443);
process.on('SIGTERM', () => process.exit(0));
`;

/** The restricted pod security standard. */
export const POD = { runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532, seccompProfile: { type: 'RuntimeDefault' } };
export const CONTAINER = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };

/** Takes memory without an end. */

/** A receiver of webhooks in a namespace with the restricted pod security standard; it runs the Node of Carrel's image. */
export const receiverObjects = ({ certificate, key }: CertificatePair): object[] => [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: OUTSIDE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'receiver', namespace: OUTSIDE },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'receiver', namespace: OUTSIDE },
    spec: {
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          automountServiceAccountToken: false,
          securityContext: POD,
          containers: [
            {
              name: 'receiver',
              image: 'carrel:0.1.0',
              imagePullPolicy: 'Never',
              command: ['node', '--eval', PROGRAM],
              ports: [{ containerPort: 8443, protocol: 'TCP' }],
              readinessProbe: { tcpSocket: { port: 8443 }, periodSeconds: 1 },
              securityContext: CONTAINER,
              volumeMounts: [{ name: 'tls', mountPath: '/tls', readOnly: true }],
            },
          ],
          volumes: [{ name: 'tls', secret: { secretName: 'receiver' } }],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'receiver', namespace: OUTSIDE },
    spec: { selector: LABELS, ports: [{ port: 443, targetPort: 8443, protocol: 'TCP' }] },
  },
];

/** Returns the deliveries that arrived since the receiver's pod started. */
export const deliveries = async (platform: Platform): Promise<Pick<Received, 'headers' | 'body'>[]> =>
  (await kubectlOk(platform, ['-n', OUTSIDE, 'logs', 'deployment/receiver']))
    .split('\n')
    .filter((line) => line.startsWith('{"headers"'))
    .map((line) => JSON.parse(line) as Pick<Received, 'headers' | 'body'>);
