# Hearth's server in a small image.
#
#   docker build -t hearth .
#   docker run --rm -p 127.0.0.1:9000:9000 -v hearth-data:/data hearth
#
# That serves production mode: rules deny everything until they are set, and the admin secret is generated:
#   docker exec CONTAINER cat /data/admin-secret
#
# Where there is no container engine, scripts/check-image follows the second stage's steps in a Debian folder and
# runs the binary there; a fresh clone and `make build` stand for the first.

FROM swift:6.3-bookworm AS builder
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        libwebsockets-dev libwebsockets-evlib-uv libssl-dev libuv1-dev zlib1g-dev \
        libcurl4-openssl-dev libargon2-dev libsqlite3-dev libpng-dev libnats-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# The dependencies first: they change less often than the sources, and stay in a layer of their own.
COPY Package.swift Package.resolved ./
RUN swift package resolve
COPY Sources ./Sources
# SwiftPM wants the folders of all targets that Package.swift names, built or not.
COPY Tests ./Tests
# The sample pages' databases have these; they are compiled in.
COPY rules ./rules
RUN swift build --configuration release --static-swift-stdlib --product hearth \
    && install -D --strip .build/release/hearth /out/hearth

FROM debian:bookworm-slim
# libwebsockets loads its libuv event loop at run time, so nothing but this list asks for the plugin.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        libwebsockets17 libwebsockets-evlib-uv libuv1 libssl3 libcurl4 libargon2-1 libnats3.4 libstdc++6 zlib1g \
        ca-certificates curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin hearth \
    && install --directory --owner hearth --group hearth --mode 0700 /data
COPY --from=builder /out/hearth /usr/local/bin/hearth
USER hearth
WORKDIR /data
VOLUME /data
EXPOSE 9000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:9000/.health/ready"]
ENTRYPOINT ["hearth"]
CMD ["serve", "--host", "0.0.0.0", "--data-dir", "/data"]
