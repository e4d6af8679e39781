"""Watch a multi-GPU LLM server start on another machine, one honest bar per rank."""
