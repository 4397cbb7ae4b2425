# One image for operator, worker, tenants' servers, helpers and the operations of `carrel`: node cmd/{operator,worker,server,helpers,carrel}/main.js
# A release pins its bases by digest, and RELEASE=true requires it: docs/operate/install.md, Build, sign and scan the images.
# hack/image.ts runs these instructions without an engine, and test/integration/image.test.ts looks at what comes out.
ARG BUILD_BASE=node:24-bookworm-slim
ARG BASE=gcr.io/distroless/nodejs24-debian12:nonroot
ARG RELEASE=false

# What the programs load, exactly as the lockfile says. The packages of the tests are no part of that, and some of those are not on every registry.
FROM ${BUILD_BASE} AS packages
WORKDIR /src
ARG BUILD_BASE
ARG BASE
ARG RELEASE
RUN case "${RELEASE} ${BUILD_BASE} ${BASE}" in false*|*@sha256:*@sha256:*) ;; *) echo 'A release needs both bases by digest, BASE and BUILD_BASE (docs/operate/install.md).' >&2; exit 1 ;; esac
COPY package.json package-lock.json .npmrc ./
RUN npm pkg delete devDependencies && npm ci --ignore-scripts
# Types and source maps are for developers: a fifth of the bytes.
RUN find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' -o -name '*.tsbuildinfo' \) -delete
# Of these packages the programs load one of several builds, and two of eighteen fonts.
RUN cd node_modules && rm -rf @cantoo/pdf-lib/cjs @cantoo/pdf-lib/dist @cantoo/pdf-lib/src @cantoo/pdf-lib/ts3.4 @cantoo/fontkit/src @cantoo/fontkit/dist/*umd* @cantoo/fontkit/dist/browser* @cantoo/fontkit/dist/main.cjs && find @expo-google-fonts/noto-sans -mindepth 1 -maxdepth 1 -type d ! -name 400Regular ! -name 700Bold -exec rm -rf {} +

FROM ${BUILD_BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm install --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY hack/web.ts hack/sbom.ts hack/shipped-packages.ts hack/
COPY cmd cmd
COPY pkg pkg
COPY crds crds
RUN npm run --silent build
RUN node hack/sbom.ts > dist/sbom.cdx.json

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Carrel" \
  org.opencontainers.image.description="Multi-tenant file storage and LTI 1.3, run by a Kubernetes operator" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=packages /src/node_modules ./node_modules
COPY --from=build /src/dist ./
USER 65532:65532
ENV NODE_ENV=production
# Distroless has node in /nodejs/bin and no shell. The programs handle SIGTERM themselves, so they need no init.
ENV PATH=/nodejs/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENTRYPOINT []
CMD ["node", "cmd/operator/main.js"]
