"""The stand-ins, one module each; ``irs_plugin.dlib.registry`` says under which names who sees them."""
