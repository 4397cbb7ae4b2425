import { NETWORK } from './layout.ts';

const NAMESPACE = 'kube-system';
const LABELS = { 'k8s-app': 'kube-dns' };
const identity = (apiVersion: string, kind: string, name: string, namespace: string | undefined = NAMESPACE) => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace === '' ? {} : { namespace }) },
});
const rbac = { api: 'rbac.authorization.k8s.io/v1', group: 'rbac.authorization.k8s.io' };

const COREFILE = `.:5353 {
  errors
  health :8080
  ready :8181
  kubernetes cluster.local in-addr.arpa ip6.arpa
  cache 10
}
`;

/** The cluster's DNS: names of Services, and no others. */
export const dnsObjects = (): object[] => [
  identity('v1', 'ServiceAccount', 'coredns'),
  {
    ...identity(rbac.api, 'ClusterRole', 'coredns', ''),
    rules: [
      { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    ...identity(rbac.api, 'ClusterRoleBinding', 'coredns', ''),
    roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'coredns' },
    subjects: [{ kind: 'ServiceAccount', name: 'coredns', namespace: NAMESPACE }],
  },
  { ...identity('v1', 'ConfigMap', 'coredns'), data: { Corefile: COREFILE } },
  {
    ...identity('apps/v1', 'Deployment', 'coredns'),
    spec: {
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          serviceAccountName: 'coredns',
          dnsPolicy: 'Default',
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'coredns',
              image: 'localhost/coredns:1',
              imagePullPolicy: 'Never',
              args: ['-conf', '/etc/coredns/Corefile'],
              readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
              securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
              volumeMounts: [{ name: 'configuration', mountPath: '/etc/coredns' }],
            },
          ],
          volumes: [{ name: 'configuration', configMap: { name: 'coredns' } }],
        },
      },
    },
  },
  {
    ...identity('v1', 'Service', 'kube-dns'),
    spec: {
      clusterIP: NETWORK.dnsService,
      selector: LABELS,
      ports: [
        { name: 'dns', port: 53, targetPort: 5353, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, targetPort: 5353, protocol: 'TCP' },
      ],
    },
  },
];
