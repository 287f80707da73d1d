# The base image with Rust where no registry of images can be reached: Debian with the toolchain and the certificates of this machine. The build context is
# the folder of the toolchain.

ARG DEBIAN
FROM docker.io/library/debian:${DEBIAN}-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates gcc libc6-dev rustup
# The machine may reach the registry of crates only through a proxy that has its own certificate.
COPY --from=certificates ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
ARG TOOLCHAIN
ENV CARGO_HOME=/usr/local/cargo \
    RUSTUP_HOME=/usr/local/rustup \
    RUSTUP_TOOLCHAIN=${TOOLCHAIN}
# Not `share`, which has the documentation: half of the toolchain.
COPY bin /usr/local/rustup/toolchains/${TOOLCHAIN}/bin
COPY lib /usr/local/rustup/toolchains/${TOOLCHAIN}/lib
