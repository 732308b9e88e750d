# longbeam with Prefect, so that the image serves a work pool, too. Not built yet where it was written: there is no Docker there.
#   docker build -t longbeam .
#   docker run --rm -v "$PWD/output:/data/output" longbeam generate --name demo --length 128K
#   docker run --rm -v "$PWD/output:/data/output" -e PREFECT_API_URL=... longbeam flows serve
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps -w /dist .

FROM python:3.12-slim
COPY requirements-flows.lock /tmp/
COPY --from=build /dist /tmp/dist
RUN pip install --no-cache-dir --no-compile --no-deps --require-hashes -r /tmp/requirements-flows.lock \
    && pip install --no-cache-dir --no-compile --no-deps /tmp/dist/*.whl \
    && rm -r /tmp/dist /tmp/requirements-flows.lock \
    && useradd --create-home longbeam && mkdir /data && chown longbeam /data
USER longbeam
WORKDIR /data
ENTRYPOINT ["longbeam"]
CMD ["--help"]
