# versitygw with our guard, for a try in a cluster: docker build -t carrel-versitygw:1.8.0 -f config/dependencies/versitygw.Dockerfile hack/binaries/versitygw
ARG BUILD_BASE=golang:1.26-bookworm
ARG BASE=gcr.io/distroless/static-debian12:nonroot
ARG RELEASE=false

FROM ${BUILD_BASE} AS build
WORKDIR /src
ARG BUILD_BASE
ARG BASE
ARG RELEASE
RUN case "${RELEASE} ${BUILD_BASE} ${BASE}" in false*|*@sha256:*@sha256:*) ;; *) echo 'A release needs both bases by digest, BASE and BUILD_BASE (docs/operate/install.md).' >&2; exit 1 ;; esac
COPY go.mod go.sum *.go ./
RUN CGO_ENABLED=0 go build -mod=readonly -trimpath -buildvcs=false -ldflags '-s -w' -o /versitygw .

FROM ${BASE}
COPY --from=build /versitygw /versitygw
USER 65532:65532
ENTRYPOINT ["/versitygw"]
