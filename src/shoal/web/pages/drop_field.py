"""Fields to choose files in, or to drop them on."""

from typing import Any

from nicegui import ui

# QUploader's own button holds the field for files inside itself, where nobody without a mouse finds out what it is. What a
# browser runs as a template stands here word for word, so that no name from outside can get into it.
_DATA = """
<div class="row items-center no-wrap q-pa-md" style="gap: 12px">
  <q-btn no-caps no-wrap outline icon="add" label="Choose files" @click="props.pickFiles" />
  <span class="shoal-drop-words">or drop them here</span>
  <span style="display: none"><q-uploader-add-trigger /></span>
</div>
"""
_PROJECT = """
<div class="row items-center no-wrap q-pa-md" style="gap: 12px">
  <q-btn no-caps no-wrap outline icon="add" label="Open a project" @click="props.pickFiles" />
  <span class="shoal-drop-words">or drop it here</span>
  <span style="display: none"><q-uploader-add-trigger /></span>
</div>
"""


def data_field(**options: Any) -> ui.upload:
    """Files of data, received as soon as they are chosen."""
    upload = _field(options)
    upload.add_slot("header", _DATA)
    return upload


def project_field(**options: Any) -> ui.upload:
    """A saved project, received as soon as it is chosen."""
    upload = _field(options)
    upload.add_slot("header", _PROJECT)
    return upload


def _field(options: dict[str, Any]) -> ui.upload:
    return ui.upload(auto_upload=True, **options).props("flat").classes("full-width shoal-drop")
