# syntax=docker/dockerfile:1
# Weft in a small image: one static binary on distroless, as nobody in particular.
#
#   docker build -t weft:dev .
#   docker run --rm -v weft:/var/lib/weft weft:dev crawl https://example.com/
#
# There is no shell and so no HEALTHCHECK: with WEFT_METRICS set, whoever runs
# the container probes /healthz and /readyz from outside.

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
# With .git, from which the toolchain stamps the version that the User-Agent names.
COPY . .
ARG TARGETOS
ARG TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags="-s -w" -o /out/weft ./cmd/weft \
    && mkdir /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/weft /usr/bin/weft
# A volume that is mounted here for the first time takes over the owner.
COPY --from=build --chown=65532:65532 /out/data /var/lib/weft
ENV WEFT_DATA=/var/lib/weft
USER 65532:65532
EXPOSE 9100
ENTRYPOINT ["/usr/bin/weft"]
