# syntax=docker/dockerfile:1
# Weft in a small image: one static binary on distroless, as an unprivileged user.
#
#   docker build -t weft:dev .
#   docker build -t weft:1.2.3 --build-arg VERSION=v1.2.3 . # the binary of make release
#   docker run --rm -v weft:/var/lib/weft weft:dev crawl https://example.com/
#
# There is no shell and so no HEALTHCHECK. With WEFT_METRICS set, probe /healthz and
# /readyz from outside of the container.

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
# With .git, which knows the version that the User-Agent names.
COPY . .
ARG VERSION
ARG TARGETOS
ARG TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags="-s -w -X main.described=${VERSION:-$(git describe --tags --always)}" \
        -o /out/weft ./cmd/weft \
    && mkdir /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/weft /usr/bin/weft
# A volume that is mounted here for the first time gets this owner.
COPY --from=build --chown=65532:65532 /out/data /var/lib/weft
ENV WEFT_DATA=/var/lib/weft
USER 65532:65532
EXPOSE 9100
ENTRYPOINT ["/usr/bin/weft"]
