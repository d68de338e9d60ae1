import { headendTitles, parametersOf, schemaOf } from './openapi.ts'
import type { Route } from './route.ts'

// A reference page without scripts and without anything from elsewhere.

export function apiPage(routes: readonly Route[], version: string): string {
  const headends = (Object.keys(headendTitles) as Route['headend'][]).filter((name) => routes.some(({ headend }) => headend === name))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Troupe API ${escaped(version)}</title>
<style>${style}</style>
</head>
<body>
<nav><h1>Troupe API</h1><p>Version ${escaped(version)}</p>${headends.map((name) => navigation(name, routes)).join('')}<p><a href="openapi.json">OpenAPI document</a></p></nav>
<main>
<p>Send the token as <code>Authorization: Bearer TOKEN</code>. Errors are JSON with <code>error.code</code>, <code>error.message</code> and <code>error.remedy</code>.</p>
${headends.map((name) => section(name, routes)).join('\n')}
</main>
</body>
</html>
`
}

const anchor = ({ method, path, onlyWith = '' }: Route): string => `${method}${path}${onlyWith}`.replaceAll(/[^\w]+/g, '-').toLowerCase()

const navigation = (name: Route['headend'], routes: readonly Route[]): string =>
  `<h2>${headendTitles[name]}</h2><ul>${routes
    .filter(({ headend }) => headend === name)
    .map((each) => `<li><a href="#${anchor(each)}"><b class="${each.method}">${each.method}</b> ${escaped(each.path)}</a></li>`)
    .join('')}</ul>`

const section = (name: Route['headend'], routes: readonly Route[]): string =>
  `<h2>${headendTitles[name]}</h2>${routes
    .filter(({ headend }) => headend === name)
    .map(article)
    .join('\n')}`

function article(each: Route): string {
  const { method, path, access, summary, description, body, responses } = each
  const parameters = parametersOf(each)
  return `<article id="${anchor(each)}">
<h3><b class="${method}">${method}</b> <code>${escaped(path)}</code> <small>${access === 'public' ? 'no token' : `scope ${access}`}</small></h3>
<p>${withCode(summary)}.${description === undefined ? '' : ` ${withCode(description)}`}</p>
${
  parameters.length === 0
    ? ''
    : `<table><tr><th>Parameter</th><th>In</th><th>Type</th><th>Description</th></tr>${parameters
        .map(
          ({ name, in: place, required, schema, description = '' }) =>
            `<tr><td><code>${escaped(name)}</code>${required ? ' *' : ''}</td><td>${place}</td><td><code>${escaped(typeText(schema))}</code></td><td>${withCode(description)}</td></tr>`,
        )
        .join('')}</table>`
}
${body ? `<details><summary>Body</summary><pre>${escaped(JSON.stringify(schemaOf(body), null, 2))}</pre></details>` : ''}
<ul>${Object.entries(responses)
    .map(([status, response]) => `<li><b>${status}</b> ${withCode(response.description)}</li>`)
    .join('')}</ul>
</article>`
}

function typeText(schema: object): string {
  const {
    type,
    enum: choices,
    anyOf,
  } = schema as { readonly type?: string; readonly enum?: readonly unknown[]; readonly anyOf?: readonly object[] }
  if (choices) return choices.join(' | ')
  if (anyOf) return [...new Set(anyOf.map(typeText))].join(' or ')
  return type === 'array' ? `${typeText((schema as { readonly items?: object }).items ?? {})}[]` : (type ?? 'any')
}

/** Words between backticks are code. */
const withCode = (text: string): string => escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const entities: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)

const style = `
:root{color-scheme:light dark;--line:light-dark(#ddd,#333);--soft:light-dark(#f6f6f7,#1b1c1f);--accent:light-dark(#3b4cca,#9aa7ff)}
*{box-sizing:border-box}body{margin:0;font:15px/1.55 system-ui,sans-serif;display:grid;grid-template-columns:20rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.5rem;border-right:1px solid var(--line);background:var(--soft);font-size:13px}
nav h1{font-size:18px;margin:0}nav h2{font-size:12px;text-transform:uppercase;letter-spacing:.05em;margin:1.2rem 0 .3rem;opacity:.7}
nav ul{list-style:none;margin:0;padding:0}nav a{color:inherit;text-decoration:none;overflow-wrap:anywhere;display:block;padding:.1rem 0}nav a:hover{color:var(--accent)}nav b{display:inline-block;min-width:3.4rem}nav p a{color:var(--accent)}
main{padding:1.5rem 2rem;max-width:60rem}main>p:first-child{margin-top:0}article{border:1px solid var(--line);border-radius:8px;padding:1rem 1.25rem;margin:1rem 0}
h3{font-size:15px;margin:0 0 .5rem}small{float:right;opacity:.65;font-weight:400}b{font:600 12px ui-monospace,monospace}.GET{color:#2a8a4a}.POST{color:var(--accent)}.PATCH{color:#b07d10}.DELETE{color:#c2453a}
code,pre{font:13px/1.45 ui-monospace,monospace}pre{background:var(--soft);padding:.75rem;border-radius:6px;overflow:auto}
table{border-collapse:collapse;margin:.5rem 0}td,th{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line);font-size:13px;vertical-align:top}
article ul{margin:.5rem 0 0;padding-left:1.1rem}summary{cursor:pointer}
@media(max-width:800px){body{display:block}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem}}
`
