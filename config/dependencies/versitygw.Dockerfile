# versitygw with our guard, for a try in a cluster: docker build -t carrel-versitygw:1.8.0 -f config/dependencies/versitygw.Dockerfile hack/binaries/versitygw
ARG BUILD_BASE=golang:1.26-bookworm
ARG BASE=gcr.io/distroless/static-debian12:nonroot

FROM ${BUILD_BASE} AS build
WORKDIR /src
COPY go.mod go.sum *.go ./
RUN CGO_ENABLED=0 go build -mod=mod -trimpath -buildvcs=false -ldflags '-s -w' -o /versitygw .

FROM ${BASE}
COPY --from=build /versitygw /versitygw
USER 65532:65532
ENTRYPOINT ["/versitygw"]
