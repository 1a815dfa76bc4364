"""Media types of files by their names: a table of our own, so that every machine and every Python says the same."""

import ntpath

TEXT, BINARY, FOLDER = "text/plain", "application/octet-stream", "inode/directory"
"""The types of files that no suffix tells apart, and of folders."""

_TABLE = """
text/plain txt text log rst adoc tex diff patch ini cfg conf properties env lock gitignore gitattributes dockerignore
text/markdown md markdown mdx
text/html html htm xhtml
text/css css scss sass less
text/csv csv
text/tab-separated-values tsv
text/calendar ics
text/javascript js mjs cjs jsx
text/x-typescript ts tsx mts cts
text/x-python py pyi pyw
text/x-ruby rb
text/x-perl pl pm
text/x-php php
text/x-lua lua
text/x-r r
text/x-shellscript sh bash zsh fish
text/x-powershell ps1 psm1
text/x-bat bat cmd
text/x-c c h
text/x-c++ cc cpp cxx hh hpp hxx
text/x-csharp cs
text/x-java java
text/x-kotlin kt kts
text/x-scala scala
text/x-swift swift
text/x-go go
text/x-rust rs
text/x-zig zig
text/x-haskell hs
text/x-elixir ex exs
text/x-erlang erl
text/x-clojure clj cljs
text/x-dart dart
text/x-objectivec m mm
text/x-sql sql
text/x-vue vue
text/x-svelte svelte
application/json json jsonc json5 ipynb webmanifest map
application/x-ndjson ndjson jsonl
application/yaml yaml yml
application/toml toml
application/xml xml xsd xsl plist
application/graphql graphql gql
application/x-protobuf proto
application/rtf rtf
image/svg+xml svg
image/png png
image/apng apng
image/jpeg jpg jpeg jpe
image/gif gif
image/webp webp
image/avif avif
image/heic heic heif
image/bmp bmp
image/tiff tif tiff
image/x-icon ico
audio/mpeg mp3
audio/wav wav
audio/ogg ogg oga opus
audio/flac flac
audio/aac aac
audio/mp4 m4a
audio/webm weba
audio/midi mid midi
video/mp4 mp4 m4v
video/webm webm
video/quicktime mov
video/x-msvideo avi
video/x-matroska mkv
video/mpeg mpg mpeg
font/woff woff
font/woff2 woff2
font/ttf ttf
font/otf otf
application/pdf pdf
application/zip zip whl
application/gzip gz tgz
application/x-bzip2 bz2
application/x-xz xz
application/zstd zst
application/x-tar tar
application/x-7z-compressed 7z
application/vnd.rar rar
application/java-archive jar
application/wasm wasm
application/epub+zip epub
application/vnd.sqlite3 sqlite sqlite3 db
application/msword doc
application/vnd.ms-excel xls
application/vnd.ms-powerpoint ppt
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
application/vnd.oasis.opendocument.text odt
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.presentation odp
"""
_BY_SUFFIX = {suffix: kind for kind, *suffixes in map(str.split, _TABLE.strip().splitlines()) for suffix in suffixes}
_TEXTUAL = frozenset(
    f"application/{name}" for name in ("json", "x-ndjson", "yaml", "toml", "xml", "graphql", "x-protobuf", "rtf")
) | {"image/svg+xml"}


def media_type_of(name: str) -> str | None:
    """Return the media type that the last suffix of a file's name stands for; None if it has none that is known."""
    _, dot, suffix = ntpath.basename(name).rpartition(".")  # a name such as `.gitignore` is a suffix as a whole
    return _BY_SUFFIX.get(suffix.lower()) if dot else None


def may_be_text(media_type: str | None) -> bool:
    """Return whether a file of this type, or of an unknown one, can be text."""
    return media_type is None or media_type.startswith("text/") or media_type in _TEXTUAL
