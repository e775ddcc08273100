"""Reports: metrics.json, Markdown tables and samples."""
