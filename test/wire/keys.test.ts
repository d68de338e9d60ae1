import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ModelFailure, ModelPart } from '../../src/contracts/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, expectFailure, key, modelOf, server, turn, turnOver } from './turn.ts'

// Variables of the machine that runs the tests must not matter, so each has a value that would show.
const ambient = 'fr0mTheEnvironment-51'
beforeEach(() => {
  for (const { keyVariable } of formats) vi.stubEnv(keyVariable, ambient)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** The failure as the model alone tells it, before anything redacts it. */
async function failureOf(
  format: WireFormat,
  setting: { readonly url: string; readonly apiKey?: string | undefined },
): Promise<ModelFailure> {
  const model = await modelOf(format, setting)
  const request = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {} } as const
  const message = { role: 'user', parts: [{ type: 'text', text: 'Go' }] } as const
  const parts: ModelPart[] = []
  for await (const part of model.stream({ ...request, messages: [message] }, { signal: new AbortController().signal })) parts.push(part)
  const last = parts.at(-1)
  return last?.type === 'error' ? last.failure : expect.unreachable(JSON.stringify(parts))
}
const needsKey = formats.filter(({ name }) => name !== 'Ollama')

describe.each(formats)('$name', (format) => {
  const [header, prefix] = format.keyHeader

  it('the key goes into its header, and nowhere else', async () => {
    const { url, reply, requests } = await server()
    reply({ chunks: format.encode(answering) })
    await turn(format, { url })
    expect(requests[0]?.headers[header]).toBe(`${prefix}${key}`)
    const { headers, ...rest } = requests[0] ?? expect.unreachable()
    const others = Object.entries(headers).filter(([name]) => name !== header)
    expect(JSON.stringify([others, rest])).not.toContain(key)
  })

  it('a wrong key, and a provider that repeats it: a failure of the key, which is not shown', async () => {
    const body = JSON.stringify(format.errorBody(401, `Incorrect API key provided: ${key}. Find yours at https://example.invalid.`))
    const result = await turnOver(format, [{ status: 401, headers: { 'content-type': 'application/json' }, chunks: [body] }])
    expectFailure(result, 'auth')
    expect(result.outcome.failure?.remedy).toContain(format.keyVariable)
  })

  it('a wrong key, and a proxy that repeats the whole request in a page', async () => {
    const page = `<html><pre>${header}: ${prefix}${key}</pre></html>`
    expectFailure(await turnOver(format, [{ status: 401, headers: { 'content-type': 'text/html' }, chunks: [page] }]), 'auth')
  })

  it.each([
    ['a line break in it', `${key}\nx`],
    ['a letter in it that no header takes', `${key}–x`],
    ['a null byte in it', `${key}\0x`],
  ])('a key with %s: a failure of the key, which the model does not show', async (_, apiKey) => {
    const { url, requests } = await server()
    const failure = await failureOf(format, { url, apiKey })
    expect(failure).toMatchObject({
      class: expect.stringMatching(/^(?:auth|config)$/),
      remedy: expect.stringContaining(format.keyVariable),
    })
    expect(JSON.stringify(failure)).not.toContain(key)
    expect(requests).toEqual([])
  })
})

describe.each(needsKey)('$name', (format) => {
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['blank', '  \n'],
  ])('a key that is %s: nothing is sent, and the remedy names the variable', async (_, apiKey) => {
    const { url, requests } = await server()
    const failure = await failureOf(format, { url, apiKey })
    expect(failure).toMatchObject({ class: 'auth', message: expect.stringMatching(/\S/) })
    expect(failure.remedy).toContain(format.keyVariable)
    expect(requests).toEqual([])
  })
})

describe.each(formats)('$name', (format) => {
  it('a key in the environment is not looked for', async () => {
    const { url, reply, requests } = await server()
    reply({ chunks: format.encode(answering) })
    const told = await failureOf(format, { url, apiKey: undefined }).catch(() => 'answered')
    expect(JSON.stringify([requests, told])).not.toContain(ambient)
  })
})
