// The one file that the precompiled header is built for.
