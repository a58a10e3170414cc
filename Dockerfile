# Paper Arena in a container: docker build -t paper-arena:0.1.0 .
# A working folder (config.yaml, and a record if it is SQLite) is mounted at /data; compose.yaml shows a whole arena.

FROM python:3.11-slim-bookworm AS build
WORKDIR /build
COPY requirements.lock pyproject.toml ./
# Every package is held against its hash in the lock; of those in it, what a running arena needs is installed.
SHELL ["/bin/sh", "-eu", "-c"]
RUN awk '/^uv==/ { on = 1 } on { print } on && !/\\$/ { exit }' requirements.lock > uv.txt; \
    pip install --no-cache-dir --no-deps --require-hashes --requirement uv.txt; \
    uv venv /app; \
    uv pip install --python /app --no-cache --compile-bytecode --require-hashes --constraint requirements.lock \
      --requirement pyproject.toml --extra postgres --extra metrics
COPY README.md LICENSE config.yaml ./
COPY examples examples
COPY markets markets
COPY portfolio portfolio
COPY agents agents
COPY arena arena
COPY dashboard dashboard
RUN uv build --no-cache --wheel --require-hashes --build-constraints requirements.lock --out-dir wheel; \
    uv pip install --python /app --no-cache --compile-bytecode --offline --no-deps wheel/*.whl

FROM python:3.11-slim-bookworm
RUN useradd --system --no-create-home --uid 10001 arena \
    && install --directory --owner=arena /data
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH HOME=/tmp PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8501 8780
# The config says `watch: {health: "127.0.0.1:8780"}` for this.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8780/health', timeout=9)"]
ENTRYPOINT ["arena"]
CMD ["run"]
