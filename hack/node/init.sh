#!/usr/bin/env bash
# Process 1 of the one-node cluster, in namespaces of its own. hack/node/node.ts gives it FOLDER, PKI, ETC, LOG, NODE_ADDRESS, LINK_BITS,
# SERVICES, and the programs by name (KUBELET=…). It starts each program again when it ends; when this process ends, the kernel ends them all.
set -euo pipefail

hostname local
cd /
mount --make-rshared /
mount -t tmpfs -o mode=755 run /run
mkdir /run/lock
# What CNI and the kubelet's device plug-ins remember.
mount -t tmpfs -o mode=755 varlib /var/lib
mount --bind "$LOG" /var/log
# The kubelet wants these settings of the whole kernel; it reads them here, and the host's stay as they are.
for setting in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1; do
  file=/run/sysctl-$(basename "${setting%=*}")
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done

until ip link show eth0 >/dev/null 2>&1; do sleep .02; done
ip link set lo up
ip address add "$NODE_ADDRESS/$LINK_BITS" dev eth0
ip link set eth0 up
# So that the node's own connections to Services reach kube-proxy's output chain.
ip route add "$SERVICES" dev eth0
echo 1 >/proc/sys/net/ipv4/ip_forward
# Pods open no connection to the host or beyond it.
"$NFT" 'table inet node { chain forward { type filter hook forward priority 0; oifname "eth0" ct state new reject; }; }'

run() {
  local name=$1
  shift
  while :; do
    "$@" >>"$LOG/$name.log" 2>&1 && code=0 || code=$?
    echo "== $name ended with $code" >>"$LOG/$name.log"
    sleep 1
  done &
}
kubeconfigs() { echo "--kubeconfig=$FOLDER/$1.kubeconfig --authentication-kubeconfig=$FOLDER/$1.kubeconfig --authorization-kubeconfig=$FOLDER/$1.kubeconfig"; }

run etcd "$ETCD" --name=local --data-dir="$FOLDER/etcd" --unsafe-no-fsync --log-level=warn \
  --listen-client-urls=https://127.0.0.1:2379 --advertise-client-urls=https://127.0.0.1:2379 --listen-peer-urls=http://127.0.0.1:2380 \
  --cert-file="$PKI/etcd.crt" --key-file="$PKI/etcd.key" --client-cert-auth --trusted-ca-file="$PKI/etcd-ca.crt"
run containerd "$CONTAINERD" -c "$ETC/containerd.toml"
run apiserver "$KUBE_APISERVER" --etcd-servers=https://127.0.0.1:2379 \
  --etcd-cafile="$PKI/etcd-ca.crt" --etcd-certfile="$PKI/etcd-client.crt" --etcd-keyfile="$PKI/etcd-client.key" \
  --bind-address="$NODE_ADDRESS" --secure-port=6443 --advertise-address="$NODE_ADDRESS" --service-cluster-ip-range="$SERVICES" \
  --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" --client-ca-file="$PKI/kubernetes-ca.crt" \
  --anonymous-auth=false --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=false --profiling=false \
  --service-account-issuer=https://kubernetes.default.svc.cluster.local \
  --service-account-key-file="$PKI/service-accounts.pub" --service-account-signing-key-file="$PKI/service-accounts.key" \
  --audit-policy-file="$ETC/audit.yaml" --audit-log-path="$LOG/audit.log" \
  --kubelet-client-certificate="$PKI/kubelet-client.crt" --kubelet-client-key="$PKI/kubelet-client.key" \
  --kubelet-certificate-authority="$PKI/kubernetes-ca.crt" --kubelet-preferred-address-types=InternalIP \
  --requestheader-client-ca-file="$PKI/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
  --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
  --requestheader-extra-headers-prefix=X-Remote-Extra- \
  --proxy-client-cert-file="$PKI/front-proxy.crt" --proxy-client-key-file="$PKI/front-proxy.key"
# Written by hack/node/node.ts when the API server answers: those below would only try again and again.
until [ -e /run/apiserver-answers ]; do sleep .05; done
# shellcheck disable=SC2046 -- three arguments
run controller-manager "$KUBE_CONTROLLER_MANAGER" $(kubeconfigs controller-manager) --bind-address=127.0.0.1 --leader-elect=false \
  --use-service-account-credentials --root-ca-file="$PKI/kubernetes-ca.crt" --profiling=false \
  --service-account-private-key-file="$PKI/service-accounts.key" --flex-volume-plugin-dir="$FOLDER/kubelet/volume-plugins"
# shellcheck disable=SC2046
run scheduler "$KUBE_SCHEDULER" $(kubeconfigs scheduler) --bind-address=127.0.0.1 --leader-elect=false --profiling=false
run kubelet "$KUBELET" --config="$ETC/kubelet.yaml" --kubeconfig="$FOLDER/kubelet.kubeconfig" --root-dir="$FOLDER/kubelet" \
  --hostname-override=local --node-ip="$NODE_ADDRESS"
run proxy "$KUBE_PROXY" --config="$ETC/proxy.yaml"
# Process 1 reaps what others leave.
while :; do
  wait || :
  sleep 1
done
