# syntax=docker/dockerfile:1
# Run it: docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#             -v chatctx:/data -p 127.0.0.1:8080:8080 chatctx
#
# The base is named by version, not by digest: a digest could not be looked up where this file was written. Whoever
# builds for production pins it: docker buildx imagetools inspect python:3.13-slim-bookworm

FROM python:3.13-slim-bookworm AS build
WORKDIR /app
# The environment has no pip of its own; the base's installs into it.
RUN python -m venv --without-pip /opt/chatctx
COPY requirements.lock ./
RUN python -m pip --python /opt/chatctx/bin/python install --no-cache-dir --disable-pip-version-check \
        --require-hashes --only-binary :all: --no-deps --requirement requirements.lock
COPY . ./
# From the source in place, as in a checkout: records and public files lie beside the program.
RUN python -m pip --python /opt/chatctx/bin/python install --no-cache-dir --disable-pip-version-check \
        --no-index --no-build-isolation --no-deps --editable . \
    && /opt/chatctx/bin/python -m compileall -q app review migrations

FROM python:3.13-slim-bookworm
# No installer in what runs. The user needs an entry, because PostgreSQL's initdb looks it up.
RUN python -m pip uninstall --yes --root-user-action=ignore pip \
    && rm -rf /usr/local/lib/python3.13/ensurepip \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin chatctx \
    && install --directory --owner=10001 --group=10001 --mode=0700 /data
COPY --from=build /opt/chatctx /opt/chatctx
COPY --from=build /app /app
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    CHATCTX_HOME=/data \
    CHATCTX_HOST=0.0.0.0 \
    CHATCTX_PORT=8080
USER 10001:10001
WORKDIR /app
VOLUME /data
EXPOSE 8080
# The first start makes the database. http.client, because a proxy of the environment has no part in this.
HEALTHCHECK --interval=10s --timeout=5s --start-period=90s --retries=3 \
    CMD ["/opt/chatctx/bin/python", "-c", "import os, sys; from http.client import HTTPConnection; c = HTTPConnection('127.0.0.1', int(os.environ['CHATCTX_PORT']), timeout=4); c.request('GET', '/livez'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["/opt/chatctx/bin/chatctx"]
CMD ["run"]
