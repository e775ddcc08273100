"""Errors of a request and their status codes in both protocols."""

#: gRPC's code for each HTTP status, by the names of `grpc.StatusCode`.
GRPC_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    # Not RESOURCE_EXHAUSTED: clients repeat that one, and a request that is too large stays so.
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    408: "DEADLINE_EXCEEDED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class RequestError(ValueError):
    """A request that cannot be answered.

    Args:
        message: str. Description of the error, for the client.
        status: int. HTTP status of the reply. Default: 400.
        reason: str. The reason in one word, for metrics; "" for gRPC's code. Default: "".
        retry_after: int. Seconds after which the request may be repeated. Default: 1.

    Attributes:
        status, reason, retry_after: The arguments.

    Example:

    >>> from tfmrc.predictors.exported.errors import RequestError
    >>> error = RequestError("There is no such model.", 404)
    >>> error.status, error.grpc_code
    (404, 'NOT_FOUND')
    """

    def __init__(self, message: str, status: int = 400, *, reason: str = "", retry_after: int = 1):
        super().__init__(message)
        self.status = status
        self.reason = reason or self.grpc_code.lower()
        self.retry_after = retry_after

    @property
    def grpc_code(self) -> str:
        """Name of the `grpc.StatusCode`."""
        return GRPC_CODES.get(self.status, "INTERNAL")
