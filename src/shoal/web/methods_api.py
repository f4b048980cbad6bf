"""Which methods an activity knows and what options each takes, for those who use the API."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from shoal.operations import OPERATIONS
from shoal.web.activities import ACTIVITIES

_WITH_METHODS = tuple(name for name, operation in OPERATIONS.items() if operation.methods is not None)
Kind = Literal[_WITH_METHODS]  # type: ignore[valid-type]


class MethodView(BaseModel):
    """A method with the schema of its options."""

    name: str
    summary: str
    exact: bool
    options: dict[str, Any] = Field(description="JSON schema of what 'options' of a request may hold")


def register(router: APIRouter) -> None:
    """Make the address known."""

    @router.get("/methods/{kind}", tags=["jobs"], summary="The methods of an activity, with their options")
    def methods(kind: Kind) -> list[MethodView]:
        registry = ACTIVITIES[kind].methods
        assert registry is not None
        return [
            MethodView(
                name=name,
                summary=method.summary,
                exact=method.exact,
                options=method.options_model.model_json_schema().get("properties", {}),
            )
            for name, method in registry.items()
        ]
