import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { provider, rightKey } from '../server/model-scene.ts'
import { desk } from './live-window.ts'
import { workbench } from './troupe.ts'

// `troupe serve` in a folder whose agents have no model: a person at a terminal connects one in the page, a script hears of it.

const agent = '---\ndescription: Helps.\nusage: anything\nmodels: openrouter/anthropic/claude-sonnet-5\n---\nHelp.\n'
const nowhere = { OLLAMA_HOST: '127.0.0.1:9' }

async function project(folder: string): Promise<string> {
  const { url } = await provider()
  await mkdir(join(folder, '.ai-agent'))
  await writeFile(join(folder, '.ai-agent', '.ai-agent.json'), JSON.stringify({ providers: { openrouter: { baseURL: url } } }))
  await writeFile(join(folder, 'clerk.ai'), agent)
  return folder
}

test('unattended, it exits with 3', async () => {
  const bench = await workbench()
  await project(bench.folder)
  const commands = [['serve'], ['serve', '--open'], ['serve', '--open', '--log-format', 'json']]
  const ended = await Promise.all(commands.map((command) => bench.start([...command, '--port', '0'], { env: nowhere }).ended))
  for (const { code, stderr } of ended) expect([code, stderr]).toEqual([3, expect.stringContaining('OPENROUTER_API_KEY')])
})

test('at a terminal without --open, or where no browser may open, it exits with 3', async () => {
  const { folder, troupe } = await desk()
  await project(folder)
  const codes = await Promise.all([
    troupe(['serve', '--port', '0'], { env: nowhere }).ended,
    troupe(['serve', '--open', '--port', '0'], { env: { ...nowhere, CI: '1' } }).ended,
    troupe(['serve', '--open', '--port', '0'], { env: { ...nowhere, BROWSER: 'none' } }).ended,
  ])
  expect(codes).toEqual([3, 3, 3])
})

test('at a terminal with --open, it starts, and a key that is pasted in the page is used', async () => {
  const { folder, troupe } = await desk()
  await project(folder)
  const window = troupe(['serve', '--open', '--port', '0'], { env: nowhere, columns: 160 })
  const shown = await window.shows(/Stop with Ctrl-C/)
  expect(shown).toContain('No model is available: the agents need openrouter/anthropic/claude-sonnet-5. Connect one in the page.')
  const [, url = '', token = ''] = /Web chat +(http:\S+)\/#token=(\S+)/.exec(shown) ?? []
  const send = async (path: string, body: object) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    return [answer.status, await answer.json()]
  }
  expect(await send('/v1/clerk', { input: 'Hello' })).toMatchObject([503, { error: { code: 'model_key_missing' } }])
  expect(await send('/v1/providers/key', { key: rightKey })).toMatchObject([200, { provider: 'openrouter' }])
  expect(await send('/v1/clerk', { input: 'Hello' })).toMatchObject([200, { text: 'Connected.' }])
  expect(window.raw()).not.toContain(rightKey)
  window.pty.kill('SIGINT')
  expect(await window.ended).toBe(130)
})
