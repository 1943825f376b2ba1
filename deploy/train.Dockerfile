# Training, indexing (by a Ray, too) and evaluation on NVIDIA GPUs: docker build -f deploy/train.Dockerfile -t groundling-train .
FROM pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
# s3fs: pictures at s3:// addresses, and the files of a bulk import.
# torch is in the image already, for its GPUs; constraints.txt names a CPU build. All other versions are those of it.
# hadolint ignore=DL3013
RUN sed -i '/^torch==/d' constraints.txt \
    && pip install --no-cache-dir --constraint constraints.txt '.[demo,search,hub,use,cjk,onnx,ray,milvus]' 's3fs==2026.9.0' \
    && useradd --create-home --uid 10001 groundling
USER 10001
WORKDIR /home/groundling
VOLUME /data
ENV GROUNDLING_DATA=/data \
    GROUNDLING_CACHE=/data/cache
ENTRYPOINT ["groundling"]
CMD ["--help"]
