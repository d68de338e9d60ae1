// The client scenarios of the official conformance suite. A scenario counts if each of its checks passes.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const scenarios = {
  '2025-11-25': ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry', 'json-schema-2020-12-preservation'],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
}
const short = ['elicitation-sep1034-client-defaults', 'sep-2322-client-request-state', 'http-custom-headers']

const suite = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js')
const client = `${process.execPath} ${join(import.meta.dirname, 'conformance-client.ts')}`

describe.each(Object.entries(scenarios))('the conformance suite, revision %s', (revision, all) => {
  const chosen = process.env.TROUPE_FULL ? all : all.filter((name) => short.includes(name))
  it.concurrent.each(chosen)('%s', async (scenario) => {
    const child = spawn(process.execPath, [suite, 'client', '--command', client, '--scenario', scenario, '--spec-version', revision])
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code, printed).toBe(0)
    expect(printed).toMatch(/Passed: (\d+)\/\1, 0 failed/)
  })
})
