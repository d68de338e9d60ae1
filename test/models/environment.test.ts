import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// The packages of the providers look into the environment wherever they are not told otherwise, two of them while they load.

const poison = 'http://127.0.0.1:1/poison'
const models = new URL('../../src/models/index.ts', import.meta.url).href

/** Where requests go, with these variables in the environment of the process and none given to the adapter but a key. */
async function addressesIn(environment: { readonly [name: string]: string }): Promise<unknown> {
  const script = `
    const { modelAdapter } = await import(${JSON.stringify(models)})
    const key = 'k'
    const variables = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key, GEMINI_API_KEY: key, OPENROUTER_API_KEY: key }
    const told = {}
    for (const name of ['openai/gpt-5', 'anthropic/claude-sonnet-5', 'google/gemini-3.5-flash', 'openrouter/x', 'ollama/x']) {
      const fetch = async (url, init) => {
        const headers = new Headers(init.headers)
        const sent = ['authorization', 'x-api-key', 'x-goog-api-key'].flatMap((each) => headers.get(each) ?? [])
        told[name] = [new URL(url).origin, ...sent]
        return new Response('', { status: 500 })
      }
      const model = await modelAdapter({ variables, fetch }).resolve(name)
      const request = { system: '', messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }], tools: [], toolChoice: 'auto', parameters: {} }
      for await (const part of model.stream(request, { signal: new AbortController().signal })) told[name] ??= part.failure?.message
    }
    console.log(JSON.stringify(told))`
  const env = { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...environment }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env, timeout: 60_000 })
  return JSON.parse(stdout)
}

const names = ['OPENAI', 'ANTHROPIC', 'GOOGLE', 'GEMINI', 'GOOGLE_GENERATIVE_AI', 'OPENROUTER', 'OLLAMA']
const all = (ending: string, value: string) => Object.fromEntries(names.map((name) => [`${name}_${ending}`, value]))

test.each([
  ['an address that is set to nothing', { ...all('BASE_URL', ''), OLLAMA_HOST: '' }],
  ['an address that is none', { ...all('BASE_URL', 'no address'), OLLAMA_HOST: 'no address' }],
  ['an address of somebody else, and a key', { ...all('BASE_URL', poison), ...all('API_KEY', 'poisoned-key'), OLLAMA_HOST: poison }],
])('the environment is ignored: %s', async (_, environment) => {
  expect(await addressesIn(environment)).toEqual({
    'openai/gpt-5': ['https://api.openai.com', 'Bearer k'],
    'anthropic/claude-sonnet-5': ['https://api.anthropic.com', 'k'],
    'google/gemini-3.5-flash': ['https://generativelanguage.googleapis.com', 'k'],
    'openrouter/x': ['https://openrouter.ai', 'Bearer k'],
    'ollama/x': ['http://127.0.0.1:11434'],
  })
})
