import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gatedServer } from '../../src/testing/index.ts'
import { desk } from './live-window.ts'

const { agent, troupe, folder } = await desk()
/** It has a configuration. */
const configured = await desk()
const spinner = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/
const endless = 'steps: [{ text: never, delay: 1h }]'

describe.concurrent('a run on a terminal', () => {
  test('the demonstration is a tree that moves, then a tree that stays, then the answer', async () => {
    const window = troupe(['demo'], { columns: 100, rows: 40 })
    await window.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] lead {2}step 1 of 12/)
    await window.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] engineer +Run the tests/)
    expect(window.isCursorVisible()).toBe(false)
    await window.shows(/\? engineer#2 · Edit shop-1\/src\/checkout\.js {2}edit_file\n[\s\S]*\n> $/)
    window.pty.write('y\r')
    expect(await window.ended).toBe(0)
    const lines = window.lines()
    expect(lines[0]).toMatch(/^troupe demo/)
    expect(lines.filter((line) => line.startsWith('lead '))).toEqual([
      expect.stringMatching(/^lead {2}completed · (?:5 steps · 7 calls|[\d.]+ s waiting)/),
    ])
    const tree = lines.slice(lines.findIndex((line) => line.startsWith('lead ')))
    expect(tree.filter((line) => line.includes('✓ edit_file'))).toHaveLength(1)
    expect(lines.join('\n')).not.toMatch(spinner)
    expect(lines.join('\n')).toMatch(/\n4 agents, 16 calls, \$0\.04, [\d.]+ s work(?:, [\d.]+ s waiting for you)?\n/)
    expect(lines.at(-1)).toContain('npx troupe init')
    expect(window.isCursorVisible()).toBe(true)
  })

  test('an answer is printed once, below the tree, however it came in', async () => {
    const file = await agent('answer', 'steps: [{ text: "First line.\\nSecond \\u001b[31mline.", delay: 100ms }]')
    const window = troupe(['run', file, 'Go'])
    expect(await window.ended).toBe(0)
    const lines = window.lines()
    expect(lines.slice(-2)).toEqual(['First line.', 'Second line.'])
    expect(window.raw()).not.toContain('\u001b[31m')
    expect(lines.filter((line) => line.includes('First line.'))).toHaveLength(1)
  })

  test('an answer is shown as it arrives, rendered; a pipe gets it as it is', async () => {
    const server = await gatedServer()
    const piece = (content: string, finish: string | null = null): string =>
      `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: finish }] })}\n\n`
    const reply = (last: string | { readonly held: string }) => ({
      chunks: [piece('# Plan\n\nTake the **early'), piece(' train** and\n- a coat'), last],
    })
    const { troupe, folder } = configured
    await writeFile(join(folder, 'streamed.ai'), '---\ndescription: A test\nmodels: lab/m\n---\nYou are tested.\n')
    await writeFile(join(folder, '.ai-agent.json'), JSON.stringify({ providers: { lab: { baseURL: `${server.url}/v1` } } }))
    const end = `${piece('.', 'stop')}data: [DONE]\n\n`
    const streaming = server.reply(reply({ held: end }))
    const window = troupe(['run', 'streamed.ai', 'Go', '--trust'])
    const shown = await window.shows(/step 1[^\n]*\n\nPlan\n\nTake the early train and\n• a coat/)
    expect(shown).not.toContain('**')
    streaming.release()
    expect(await window.ended).toBe(0)
    expect(window.lines().slice(-5)).toEqual(['', 'Plan', '', 'Take the early train and', '• a coat.'])
    expect(window.raw()).toContain('\u001b[1mearly train\u001b[22m')
    server.reply(reply(end))
    const piped = troupe(['run', 'streamed.ai', 'Go', '--trust', '--color', 'never'])
    expect(await piped.ended).toBe(0)
    expect(piped.lines().slice(-4)).toEqual(['# Plan', '', 'Take the **early train** and', '- a coat.'])
    await server.close()
  })

  test('a retry counts down', async () => {
    const file = await agent('retry', 'steps: [{ fault: rate_limit }, { fault: rate_limit }, { text: Done. }]')
    const window = troupe(['run', file, 'Go'])
    await window.shows(/↻ rate_limit {2}too many requests[^\n]*\n.*◷ next attempt in 0\.\d s/)
    expect(await window.ended).toBe(0)
    expect(window.lines().join('\n')).not.toContain('next attempt')
    expect(window.lines().filter((line) => line.includes('↻ rate_limit'))).toHaveLength(2)
    expect(window.lines().at(-1)).toBe('Done.')
  })

  test('a session that waits for a queue is shown with it until the run ends', async () => {
    for (const name of ['north', 'south']) await agent(name, endless, 'usage: what to do\noutput: { format: text }')
    const call = (name: string): string => `{ tool: agent__${name}, input: { prompt: Look., reason: It has to be known } }`
    const file = await agent(
      'pair',
      `steps: [{ calls: [${call('north')}, ${call('south')}] }, { text: Done. }]`,
      'agents: [./north.ai, ./south.ai]',
    )
    await writeFile(join(folder, 'one.json'), '{ "queues": { "script": { "concurrent": 1 } } }')
    const window = troupe(['run', file, 'Go', '--config', 'one.json'], { columns: 100, rows: 30 })
    await window.shows(/(?:north|south) {2}Look\. · starting[^\n]*\n[^\n]*◷ waiting for queue script +\d/)
    window.pty.write('\u0003')
    expect(await window.ended).toBe(130)
    expect(
      window
        .lines()
        .slice(window.lines().findLastIndex((line) => line.startsWith('pair ')))
        .join('\n'),
    ).not.toContain('queue')
  })

  test('a window that gets narrower, lower, wider and higher always shows one whole tree', async () => {
    const window = troupe(['run', await agent('sized', endless), 'Go'], { columns: 100, rows: 30 })
    await window.shows(/step 1 {2}script\/sized\.yaml/)
    for (const [columns, rows] of [
      [40, 30],
      [24, 5],
      [120, 10],
      [70, 24],
    ] as const) {
      await window.resize(columns, rows)
      await window.writes('\u001b[J')
      const shown = await window.shows(/^\S sized {2}step 1.*\n└─ \S step 1.*$(?!\n)/m)
      expect(shown.match(/└─/g)).toHaveLength(1)
      for (const line of shown.split('\n')) expect(line.length).toBeLessThan(columns)
    }
    window.pty.write('\u0003')
    expect(await window.ended).toBe(130)
  })

  test('events on the same terminal stay whole', async () => {
    const file = await agent('events', `steps: [{ text: "${'word '.repeat(50)}", delay: 200ms }]`)
    const window = troupe(['run', file, 'Go', '--stream-json'], { columns: 120, rows: 20 })
    await window.shows(spinner)
    expect(await window.ended).toBe(0)
    const lines = window.lines()
    const events = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    const seqs = events.flatMap(({ seq }: { readonly seq?: number }) => (seq === undefined ? [] : [seq]))
    expect(seqs).toEqual(seqs.map((_, i) => i + 1))
    expect(events.filter(({ type }) => type === 'interaction.item.delta')).toHaveLength(50)
    expect(lines.join('\n')).not.toMatch(spinner)
  })
})

describe.concurrent('Ctrl-C', () => {
  test('ends the run, reports it, and restores the window', async () => {
    const window = troupe(['run', await agent('stopped', endless), 'Go'])
    await window.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] stopped {2}step 1 of 10/)
    const asked = performance.now()
    window.pty.write('\u0003')
    expect(await window.ended).toBe(130)
    expect(performance.now() - asked).toBeLessThan(20_000)
    expect(window.raw()).toContain('interrupting…')
    expect(window.isCursorVisible()).toBe(true)
    const lines = window.lines()
    expect(lines.filter((line) => line.includes('stopped  '))).toEqual([expect.stringMatching(/^stopped {2}interrupted/)])
    expect(lines.join('\n')).not.toMatch(spinner)
  })
})

describe.concurrent('no escape byte', () => {
  const hello = agent('hello', 'steps: [{ text: Hello., calls: [{ tool: none }], delay: 50ms }, { text: Bye. }]')

  test.each([
    [{ NO_COLOR: '1' }, [], /^step 1 script\/hello\.yaml$/m],
    [{ TERM: 'dumb' }, [], /^step 1 script\/hello\.yaml$/m],
    [{ NO_COLOR: '1' }, ['--verbose'], /^ {2}= ~?\d+ → \d+ tokens/m],
    [{}, ['--log-format', 'json'], /^\{"time":.*"msg":"turn completed"/m],
    [{}, ['--quiet'], /^Bye\.$/],
  ] as const)('with %j %j', async (env, flags, expected) => {
    const window = troupe(['run', await hello, 'Hi', ...flags], { env })
    expect(await window.ended).toBe(0)
    expect(window.raw()).not.toContain('\u001b')
    expect(window.lines().join('\n')).toMatch(expected)
    expect(window.lines().at(-1)).toBe('Bye.')
  })
})
