import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { desk, type Opened } from './live-window.ts'

// An MCP server asks with a form, and a person answers at a terminal of `troupe run`.

const { agent, troupe, folder } = await desk()
const server = join(import.meta.dirname, '../mcp/fixtures/asking-server.mjs')
const script = 'steps: [{ calls: [{ tool: travel__survey, input: {} }] }, { text: Done. }]'

/** Starts a run whose server asks, or resumes it. */
async function run(name: string, protocol: string, ...more: readonly string[]): Promise<Opened> {
  const env = { ANSWERS: join(folder, `${name}.answers`) }
  const travel = { command: process.execPath, args: [server], env, protocol, approval: { '*': 'allow' } }
  await writeFile(join(folder, `${name}.json`), JSON.stringify({ mcpServers: { travel } }))
  const file = await agent(name, script, 'tools: [travel/*]')
  return troupe(['run', file, ...(more.length > 0 ? more : ['Go']), '--data-dir', name, '--config', `${name}.json`], { rows: 45 })
}

/** What the server got. */
const answers = async (name: string): Promise<readonly unknown[]> =>
  (await readFile(join(folder, `${name}.answers`), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Types a line when the prompt comes after this text. */
async function type(window: Opened, after: string, line: string): Promise<void> {
  await window.shows(new RegExp(`${after}[^\\n]*\\n> $`))
  window.pty.write(line)
}

describe.each(['2025-11-25', '2026-07-28'])('a form of an MCP server, revision %s', (protocol) => {
  test('is filled in field by field; wrong values are asked for again', async () => {
    const name = `fill-${protocol}`
    const window = await run(name, protocol)
    await type(window, 'y fill in', 'y\r')
    await type(window, 'Your name: text', 'A\r')
    await type(window, 'at least 2 characters\\.', 'Ann\r')
    await type(window, 'nights: integer', '20\r')
    await type(window, 'at most 14\\.', '3\r')
    await type(window, 'room: one of', '2\r')
    await type(window, 'breakfast: yes or no', 'maybe\r')
    await type(window, 'Expected yes or no\\.', '\r')
    await type(window, 'email: email', '\r')
    expect(await window.ended).toBe(0)
    expect(await answers(name)).toEqual([{ action: 'accept', content: { name: 'Ann', nights: 3, room: 'double', breakfast: true } }])
    const lines = window.lines()
    const shown = lines.slice(
      lines.findIndex((line) => line.includes('travel · survey')),
      lines.findIndex((line) => line.includes('completed')),
    )
    expect(shown.join('\n')).toMatchInlineSnapshot(`
      "└─ ◌ travel · survey  waiting
      ? Tell us about your stay
        asked by travel
        │ Your name (name): text (at least 2 characters, required)
        │   As in your passport
        │ nights: integer (1 to 14, required)
        │ room: one of 1 Single room [single], 2 Double room [double] (required)
        │ breakfast: yes or no (optional, default yes)
        │ email: email (optional)
        y fill in · n decline · c cancel · x no, and end the run
      > y
      An empty line takes the default, or skips an optional field. /cancel cancels
        the form.
      Your name: text (at least 2 characters, required)
      > A
      Expected at least 2 characters.
      > Ann
      nights: integer (1 to 14, required)
      > 20
      Expected at most 14.
      > 3
      room: one of 1 Single room [single], 2 Double room [double] (required)
      > 2
      breakfast: yes or no (optional, default yes)
      > maybe
      Expected yes or no.
      > 
      email: email (optional)
      > "
    `)
    expect(lines.at(-1)).toBe('Done.')
  })
})

test.each([
  ['2025-11-25', 'decline', ['n\r']],
  ['2026-07-28', 'decline', ['n\r']],
  ['2025-11-25', 'cancel', ['c\r']],
  ['2026-07-28', 'cancel', ['y\r', '/cancel\r']],
])('revision %s: the server gets %s', async (protocol, action, [first = '', second]) => {
  const name = `${action}-${protocol}`
  const window = await run(name, protocol)
  await type(window, 'y fill in', first)
  if (second !== undefined) await type(window, 'Your name: text', second)
  expect(await window.ended).toBe(0)
  expect(await answers(name)).toEqual([{ action }])
})

test('the end of the input in a form suspends the run; the form is asked for again, and takes JSON with defaults', async () => {
  const first = await run('later', '2026-07-28')
  await type(first, 'y fill in', 'y\r')
  await type(first, 'Your name: text', '\u0004')
  expect(await first.ended).toBe(6)
  const text = first.lines().join('\n')
  expect(text).toMatch(/◌ travel · survey {2}waiting\n[^\n]*\? answer required {2}Tell us about your stay/)
  const [, id = ''] = /--resume (\S+)/.exec(text) ?? []
  const again = await run('later', '2026-07-28', '--resume', id)
  await type(again, 'y fill in', '{"name":"Bo","nights":1,"room":"single"}\r')
  expect(await again.ended).toBe(0)
  expect(await answers('later')).toEqual([{ action: 'accept', content: { name: 'Bo', nights: 1, room: 'single', breakfast: true } }])
})
