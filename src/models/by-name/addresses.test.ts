import { describe, expect, test } from 'vitest'
import { TroupeError } from '../../contracts/index.ts'
import { endpointOf } from './endpoint.ts'
import { modelAdapter } from './model-adapter.ts'

const addressOf = (provider: string, variables: { readonly [name: string]: string }) =>
  endpointOf(provider, { variables: { ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', OPENAI_API_KEY: 'k', ...variables } })?.settings.baseURL

describe('where Ollama is', () => {
  test.each([
    ['127.0.0.1:4711', 'http://127.0.0.1:4711/v1'],
    [':4711', 'http://127.0.0.1:4711/v1'],
    ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0:4711', 'http://127.0.0.1:4711/v1'],
    ['::', 'http://127.0.0.1:11434/v1'],
    ['[::]:4711', 'http://127.0.0.1:4711/v1'],
    ['::1', 'http://[::1]:11434/v1'],
    ['fe80::1:2', 'http://[fe80::1:2]:11434/v1'],
    ['[::1]:4711', 'http://[::1]:4711/v1'],
    ['localhost', 'http://localhost:11434/v1'],
    ['gpu-box', 'http://gpu-box:11434/v1'],
    ['http://gpu-box:80/', 'http://gpu-box/v1'],
    ['https://gpu-box', 'https://gpu-box/v1'],
    ['http://gpu-box:4711/v1/', 'http://gpu-box:4711/v1'],
  ])('OLLAMA_HOST=%s is %s', (host, expected) => {
    expect(addressOf('ollama', { OLLAMA_HOST: host })).toBe(expected)
    expect(addressOf('ollama', { OLLAMA_BASE_URL: host })).toBe(expected)
  })

  test.each(['11434', 'host:99999', 'a b', ':', 'ftp://gpu-box'])('OLLAMA_HOST=%s is invalid, and the error shows the format', (host) => {
    expect(() => addressOf('ollama', { OLLAMA_HOST: host })).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: 'OLLAMA_HOST is not an http: or https: address.',
        remedy: 'Write it like 127.0.0.1:11434.',
      }),
    )
  })
})

test.each([
  ['google', { GEMINI_BASE_URL: 'http://127.0.0.1:9/v1beta' }, 'http://127.0.0.1:9/v1beta'],
  ['google', { GOOGLE_BASE_URL: 'http://127.0.0.1:8/v1beta', GEMINI_BASE_URL: 'http://127.0.0.1:9/v1beta' }, 'http://127.0.0.1:8/v1beta'],
  ['anthropic', { ANTHROPIC_BASE_URL: 'https://api.anthropic.com/' }, 'https://api.anthropic.com/v1'],
  ['anthropic', { ANTHROPIC_BASE_URL: '' }, 'https://api.anthropic.com/v1'],
  ['openai', { OPENAI_BASE_URL: ' ' }, 'https://api.openai.com/v1'],
])('%s with %j is at %s', (provider, variables, expected) => {
  expect(addressOf(provider, variables)).toBe(expected)
})

test.each([
  ['lab/x', { LAB_BASE_URL: 'https://ada:hunter2secret@example.org/v1' }],
  ['lab/x', { LAB_BASE_URL: 'htps://ada:hunter2secret@example.org/v1' }],
  ['lab/x', { LAB_BASE_URL: 'ada:hunter2secret@example.org/v1' }],
  ['lab/x', { LAB_BASE_URL: 'https://example.org/v1?key=hunter2secret' }],
  ['ollama/x', { OLLAMA_HOST: 'ada:hunter2secret@127.0.0.1' }],
  ['auto', { OLLAMA_HOST: 'http://ada:hunter2secret@127.0.0.1:9' }],
])('%s: a password in an address is never shown (%#)', async (name, variables) => {
  const fetch = () => Promise.reject(new TypeError('fetch failed'))
  const error = await (async () => modelAdapter({ variables, fetch }).resolve(name))().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TroupeError)
  const { message, remedy, problems, stack } = error as TroupeError
  expect(JSON.stringify([message, remedy, problems, stack])).not.toContain('hunter2secret')
})

describe('without an answer', () => {
  const refused = () => Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }))
  const remedyOf = async (name: string, options: Omit<Parameters<typeof modelAdapter>[0], 'fetch'>) => {
    const model = await modelAdapter({ ...options, fetch: refused }).resolve(name)
    const request = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {} } as const
    for await (const part of model.stream(request, { signal: new AbortController().signal }))
      if (part.type === 'error') return part.failure.remedy
    return expect.unreachable()
  }

  test('the error names the variable with the address of Ollama', async () => {
    expect(await remedyOf('ollama/a', { variables: {} })).toBe(
      'Start the server of ollama, or set OLLAMA_HOST to where it runs (now http://127.0.0.1:11434/v1).',
    )
    expect(await remedyOf('ollama/a', { variables: { OLLAMA_BASE_URL: 'http://127.0.0.1:9/v1' } })).toContain('OLLAMA_BASE_URL')
  })

  test('or which setting', async () => {
    const providers = { lab: { baseURL: 'http://127.0.0.1:9/v1' } }
    expect(await remedyOf('lab/a', { variables: {}, providers })).toContain('set providers.lab.baseURL to where it runs')
  })
})
