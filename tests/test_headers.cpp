// Precompiled headers belong to a target, and that to a file.
