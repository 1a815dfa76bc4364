"""The style sheet and the content security policy of the HTML export. The page loads nothing."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page allows no script, even if one got into it, and images only as data URIs."""

CSS = """
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --page: #fff; --box: #f6f8fa; --line: #d1d9e0;
  --user: #ddf4ff; --new: #dafbe1; --old: #ffebe9; --link: #0969da; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9198a1; --page: #0d1117; --box: #151b23;
  --line: #3d444d; --user: #12263f; --new: #12361f; --old: #47191c; --link: #4493f8; } }
body { margin: 0 auto; max-width: 56rem; padding: 1.5rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1rem; margin: 0 0 .25rem; } a { color: var(--link); }
section, details { border: 1px solid var(--line); border-radius: .5rem; margin: 1rem 0; padding: .75rem 1rem; }
section.user { background: var(--user); } section.thought { color: var(--soft); font-style: italic; }
.dropped { opacity: .6; border-style: dashed; } .note { color: var(--soft); }
.text { white-space: pre-wrap; } summary { cursor: pointer; font-weight: 600; }
pre { background: var(--box); border-radius: .25rem; margin: .5rem 0; overflow-x: auto; padding: .5rem;
  white-space: pre-wrap; }
ins, del { display: block; text-decoration: none; } ins { background: var(--new); } del { background: var(--old); }
img { max-width: 100%; } ul.plan { list-style: none; padding-left: 0; }
"""
