"""The workbench: everything Shoal does, in the browser. It calls the public functions and nothing below them."""
