"""Errors of a request and their status codes in both protocols."""

__all__ = ["RequestError"]

#: gRPC's code for each HTTP status, by the names of `grpc.StatusCode`.
GRPC_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    # Not RESOURCE_EXHAUSTED: clients repeat that one, and a request that is too large stays so.
    413: "INVALID_ARGUMENT",
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

    Attributes:
        status: int. HTTP status of the reply.

    Example:

    >>> from tfmrc.predictors.errors import RequestError
    >>> error = RequestError("There is no such model.", 404)
    >>> error.status, error.grpc_code
    (404, 'NOT_FOUND')
    """

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status

    @property
    def grpc_code(self) -> str:
        """Name of the `grpc.StatusCode`."""
        return GRPC_CODES.get(self.status, "INTERNAL")
