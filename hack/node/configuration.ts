import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CGROUP, type Layout, NETWORK, NODE_NAME } from './layout.ts';
import type { NodeBinaries } from './programs.ts';

/** The type of an overlay file system (statfs). One overlay cannot lie on another. */
const OVERLAY = 0x794c7630;
/** Images that the kubelet must not remove, since nobody can pull them again. */
export const PAUSE_IMAGE = 'localhost/pause:1';

/** The configuration files of containerd, CNI, kubelet and kube-proxy. JSON is YAML. */
export function writeConfiguration(layout: Layout, binaries: NodeBinaries): void {
  const write = (path: string, content: string | object): void => {
    mkdirSync(dirname(join(layout.etc, path)), { recursive: true });
    writeFileSync(join(layout.etc, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  };
  for (const folder of ['log', 'volumes', 'containerd', 'kubelet', 'etcd'])
    mkdirSync(join(layout.folder, folder), { recursive: true, mode: folder === 'etcd' ? 0o700 : 0o755 });
  write('resolv.conf', '');
  write('containerd.toml', containerd(layout, binaries));
  write('cni/pods.conflist', {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        type: 'ptp',
        ipMasq: false,
        ipam: {
          type: 'host-local',
          dataDir: '/run/cni-ipam',
          ranges: [[{ subnet: NETWORK.pods }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  });
  // Log the requests of programs in pods, except the cluster's own.
  write('audit.yaml', {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'None', userGroups: ['system:serviceaccounts:kube-system'] },
      { level: 'Metadata', userGroups: ['system:serviceaccounts'] },
      { level: 'None' },
    ],
  });
  write('kubelet.yaml', kubelet(layout));
  write('proxy.yaml', {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clusterCIDR: NETWORK.pods,
    hostnameOverride: NODE_NAME,
    clientConnection: { kubeconfig: join(layout.folder, 'proxy.kubeconfig') },
    // The host's limits of connections stay as they are.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  });
}

function containerd(layout: Layout, binaries: NodeBinaries): string {
  const folder = join(layout.folder, 'containerd');
  const snapshotter = statfsSync(layout.folder).type === OVERLAY ? 'native' : 'overlayfs';
  const plugIns = [binaries.ptp, binaries['host-local'], binaries.loopback].map((program) => JSON.stringify(dirname(program)));
  return `version = 3
root = "${folder}"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins.'io.containerd.internal.v1.opt']
  path = "${folder}/opt"
[plugins.'io.containerd.nri.v1.nri']
  disable = true
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "${snapshotter}"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${PAUSE_IMAGE}"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
        BinaryName = "${binaries.runc}"
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = [${plugIns.join(', ')}]
    conf_dir = "${layout.etc}/cni"
`;
}

const kubelet = (layout: Layout): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  failCgroupV1: false,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${CGROUP}`,
  oomScoreAdj: 0,
  protectKernelDefaults: true,
  makeIPTablesUtilChains: false,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  address: NETWORK.nodeAddress,
  readOnlyPort: 0,
  healthzBindAddress: '127.0.0.1',
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: join(layout.pki, 'kubernetes-ca.crt') },
  },
  authorization: { mode: 'Webhook' },
  tlsCertFile: join(layout.pki, 'kubelet-server.crt'),
  tlsPrivateKeyFile: join(layout.pki, 'kubelet-server.key'),
  clusterDNS: [NETWORK.dnsService],
  clusterDomain: 'cluster.local',
  resolvConf: join(layout.etc, 'resolv.conf'),
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '1Gi',
    'imagefs.available': '1Gi',
    'nodefs.inodesFree': '10000',
  },
  imageGCHighThresholdPercent: 100,
  volumePluginDir: join(layout.folder, 'kubelet', 'volume-plugins'),
  podLogsDir: '/var/log/pods',
  registerNode: true,
});
