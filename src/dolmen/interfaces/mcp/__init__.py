"""How do agents reach the memory? Over the Model Context Protocol: the same tools on stdio and on Streamable HTTP."""
