# One image for the three programs: node dist/cmd/{operator,server,worker}/main.js
ARG BUILD_BASE=node:24-bookworm-slim
ARG BASE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${BUILD_BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm install --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY hack/web.ts hack/
COPY cmd cmd
COPY pkg pkg
COPY crds crds
RUN node hack/web.ts && node_modules/.bin/tsc -p tsconfig.build.json && cp package.json dist/ && mkdir -p dist/pkg/web && cp -r pkg/web/dist dist/pkg/web/ \
  && npm prune --omit=dev --ignore-scripts

FROM ${BASE}
WORKDIR /app
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/dist ./
COPY --from=build /src/crds ./crds
USER 65532:65532
ENV NODE_ENV=production
# Each workload names its program: command: ["node", "cmd/server/main.js"]. Distroless has node as its entry point's path.
ENV PATH=/nodejs/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENTRYPOINT []
CMD ["node", "cmd/operator/main.js"]
