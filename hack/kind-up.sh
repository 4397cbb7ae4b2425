#!/usr/bin/env bash
# `make kind-up`: a cluster in Docker (kind) with our image and the chart, installed by the lines of docs/operate/install.md, "Install for a try".
set -euo pipefail
cd "$(dirname "$0")/.."

need() {
  command -v "$1" >/dev/null || { echo "kind-up: $1 is missing. Install it ($2)." >&2; exit 1; }
}
need docker https://docs.docker.com/engine/install
need kubectl https://kubernetes.io/docs/tasks/tools
need helm https://helm.sh/docs/intro/install
# From the PATH, else built by Go.
KIND=sigs.k8s.io/kind@v0.33.0
if ! command -v kind >/dev/null; then
  command -v go >/dev/null || { echo 'kind-up: kind is missing, and so is Go, which builds it. Install one of them (https://kind.sigs.k8s.io/docs/user/quick-start).' >&2; exit 1; }
  kind() { go run "$KIND" "$@"; }
fi
docker info >/dev/null 2>&1 || { echo 'kind-up: Docker does not answer. Start it.' >&2; exit 1; }
if kind get clusters 2>/dev/null | grep -qx carrel; then
  echo "kind-up: the cluster carrel exists. Delete it first: kind delete cluster --name carrel (without kind: go run $KIND delete cluster --name carrel)" >&2
  exit 1
fi

docker build --tag carrel:0.1.0 .
docker build --tag carrel-versitygw:1.8.0 --file config/dependencies/versitygw.Dockerfile hack/binaries/versitygw
KUBECONFIG=$(mktemp)
export KUBECONFIG
kind create cluster --config config/kind/cluster.yaml
kind load docker-image --name carrel carrel:0.1.0 carrel-versitygw:1.8.0
bash -euo pipefail -c "$(sed -n '/<!-- try -->/,/<!-- \/try -->/p' docs/operate/install.md | sed -n '/^```sh$/,/^```$/p' | sed '/^```/d')"
kubectl --namespace carrel-system rollout status deployment/carrel-operator --timeout=5m
mv "$KUBECONFIG" .carrel-kind.kubeconfig
echo 'Carrel runs. Use it with: export KUBECONFIG=.carrel-kind.kubeconfig'
