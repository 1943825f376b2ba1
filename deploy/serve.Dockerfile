# A server of an exported model, without PyTorch: docker build -f deploy/serve.Dockerfile -t groundling-serve .
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
# bulk-requirements.txt for an image that also fills a Milvus by way of a bucket.
ARG REQUIREMENTS=serve-requirements.txt
COPY constraints.txt deploy/serve-requirements.txt deploy/bulk-requirements.txt /tmp/
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt --requirement "/tmp/$REQUIREMENTS" \
    && useradd --create-home --uid 10001 groundling
COPY --from=build /wheels /tmp/wheels
RUN pip install --no-cache-dir --no-deps /tmp/wheels/*.whl && rm -r /tmp/wheels

USER 10001
# The index and the exported model are mounted here, to be read only; nothing is written but caches.
VOLUME /data
ENV GROUNDLING_INDEX=/data/photos.index \
    GROUNDLING_HOST=0.0.0.0 \
    GROUNDLING_PORT=8000 \
    GROUNDLING_CACHE=/tmp/groundling
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request as web; web.urlopen('http://127.0.0.1:' + os.environ['GROUNDLING_PORT'] + '/health', timeout=4)"]
# A token is required, because others can reach 0.0.0.0: GROUNDLING_TOKEN.
ENTRYPOINT ["groundling", "serve"]
