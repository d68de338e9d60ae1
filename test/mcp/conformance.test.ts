// The client scenarios of the official conformance suite. A scenario counts if each of its checks passes.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const authorization = [
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'basic-cimd',
  'scope-from-www-authenticate',
  'scope-from-scopes-supported',
  'scope-omitted-when-undefined',
  'scope-step-up',
  'scope-retry-limit',
  'token-endpoint-auth-basic',
  'token-endpoint-auth-post',
  'token-endpoint-auth-none',
  'pre-registration',
  // An extension.
  'client-credentials-basic',
  'client-credentials-jwt',
].map((name) => `auth/${name}`)

const scenarios = {
  '2025-11-25': [
    'initialize',
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'sse-retry',
    'json-schema-2020-12-preservation',
    ...authorization,
  ],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
    ...authorization,
    'auth/resource-mismatch',
    'auth/offline-access-scope',
    'auth/offline-access-not-supported',
    'auth/authorization-server-migration',
    'auth/iss-supported',
    'auth/iss-not-advertised',
    'auth/iss-supported-missing',
    'auth/iss-wrong-issuer',
    'auth/iss-unexpected',
    'auth/iss-normalized',
    'auth/metadata-issuer-mismatch',
  ],
}
const short = [
  'elicitation-sep1034-client-defaults',
  'json-schema-2020-12-preservation',
  'sep-2322-client-request-state',
  'http-custom-headers',
  'auth/authorization-server-migration',
]

const conformance = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance')
const suite = join(conformance, 'dist/index.js')
const client = `${process.execPath} ${join(import.meta.dirname, 'conformance-client.ts')}`

it.each(Object.entries(scenarios))('the list has all scenarios that revision %s requires', (revision, all) => {
  const [, required = ''] = readFileSync(join(conformance, `requirements/${revision}.yaml`), 'utf8').split(/^client:\n|^not_scored:/m)
  const names = [...required.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(10)
  expect(all).toEqual(expect.arrayContaining(names))
})

describe.each(Object.entries(scenarios))('the conformance suite, revision %s', (revision, all) => {
  const chosen = process.env.TROUPE_FULL ? all : all.filter((name) => short.includes(name))
  it.concurrent.each(chosen)('%s', async (scenario) => {
    const child = spawn(process.execPath, [
      suite,
      'client',
      '--command',
      client,
      '--scenario',
      scenario,
      '--spec-version',
      revision,
      '--force',
    ])
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code, printed).toBe(0)
    expect(printed).toMatch(/Passed: (\d+)\/\1, 0 failed/)
  })
})
