# tfmrc serve in a container:
#
#   docker build -t tfmrc .
#   docker run --rm -p 127.0.0.1:8501:8501 -p 127.0.0.1:8500:8500 \
#       -v "$PWD/savedmodels:/models:ro" tfmrc
#
# The models are read from /models, as TensorFlow Serving's container does.
FROM python:3.12-slim AS wheel
WORKDIR /build
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

FROM python:3.12-slim AS environment
RUN python -m venv /opt/tfmrc
COPY requirements.lock ./
# The exact versions, checked by their hashes.
RUN /opt/tfmrc/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock
COPY --from=wheel /dist /dist
RUN /opt/tfmrc/bin/pip install --no-cache-dir --no-deps /dist/*.whl

FROM python:3.12-slim
COPY --from=environment /opt/tfmrc /opt/tfmrc
RUN useradd --system --uid 10001 tfmrc
USER 10001
ENV PATH=/opt/tfmrc/bin:$PATH TF_CPP_MIN_LOG_LEVEL=3
EXPOSE 8500 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/healthz')"]
# Exec form: the server itself gets SIGTERM, and finishes running requests.
ENTRYPOINT ["tfmrc", "serve", "/models", "--host", "0.0.0.0"]
