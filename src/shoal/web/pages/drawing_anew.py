"""Choices that draw the fields of a form anew: until those stand, nobody writes into fields that are about to go."""

from typing import TypeVar

from nicegui.element import Element

Choice = TypeVar("Choice", bound=Element)

# The first way to the server and back ends when it has dealt with the choice, the second brings what it drew. Where somebody
# is by keyboard stays open.
_CLOSE = """() => {
  const there = {client_id: window.clientId, next_message_id: window.nextMessageId};
  const fields = [...document.querySelectorAll("[data-setting], [data-option]")]
    .map((item) => item.closest(".q-field") ?? item).filter((item) => !item.contains(document.activeElement));
  fields.forEach((item) => { item.inert = true; });
  const open = () => {
    window.socket.off("disconnect", open);
    fields.forEach((item) => { item.inert = false; });
  };
  // Whoever loses the connection gets no answer.
  window.socket.once("disconnect", open);
  window.socket.emit("ack", there, () => window.socket.emit("ack", there, open));
}"""


def draws_anew(choice: Choice) -> Choice:
    """Close the fields of the form from the moment of a choice until the server has answered it.

    What is written into a field that the server has replaced reaches nobody, and is gone when the new one is drawn.
    """
    return choice.on("update:model-value", js_handler=_CLOSE)
