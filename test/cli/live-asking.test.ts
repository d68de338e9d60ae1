import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { desk, type Opened } from './live-window.ts'

const { agent, troupe, folder } = await desk()
/** Commands run here without a sandbox: this machine may have none. */
await writeFile(join(folder, 'off.json'), '{ "sandbox": { "mode": "off" } }')

const tools = 'tools: [update_plan, shell, write_file, ask_user]'
/** Answers the last question; what the window showed then. */
async function answer(window: Opened, question: RegExp, line: string): Promise<string> {
  const shown = await window.shows(new RegExp(`${question.source}[\\s\\S]*\\n> $`))
  window.pty.write(`${line}\r`)
  return shown
}
const script = (file: string): string => `steps:
  - text: First I look.
    calls:
      - { tool: update_plan, input: { plan: [{ step: Look, status: in_progress }, { step: Write, status: pending }] } }
      - { tool: shell, input: { command: exit 3, reason: Is it there } }
  - text: "It is not there.\\n\\nSo I write it, and that changes one file only, which is the one that you have asked me for."
    calls: [{ tool: write_file, input: { path: ${file}, content: text } }]
  - text: Done.
`

// One after the other: commands of one folder at the same time may find its guards being made or taken away.
describe('asked in a window', () => {
  test.each([40])('of %d columns: the events before a question are printed above it, and the tree is complete below', async (columns) => {
    const name = `above${columns}`
    const file = await agent(name, script(`${name}.txt`), tools)
    const window = troupe(['run', file, 'Go', '--data-dir', name, '--config', 'off.json', '--allow', 'shell'], { columns, rows: 45 })
    const shown = await answer(window, /\? Write/, 'y')
    const above = shown.slice(0, shown.indexOf('? Write')).split('\n')
    expect(above.join('\n')).toMatch(
      /^step 1 [\s\S]*\n│ {2}First I look\.\n[\s\S]*≠ shell {8}exit 3[\s\S]*\n☰ plan {2}0 of 2 done[\s\S]*\nstep 2[\s\S]*\n│ {2}It is not there\.\n│\n│ {2}So I write it/,
    )
    for (const line of above) expect(line.length).toBeLessThan(columns)
    expect(await window.ended).toBe(0)
    const lines = window.lines()
    const tree = lines.slice(lines.findIndex((line) => line.startsWith(`${name}  completed`)))
    expect(tree.filter((line) => /≠ shell {8}exit 3/.test(line))).toHaveLength(1)
    expect(tree.filter((line) => /✓ write_file {3}above/.test(line))).toHaveLength(1)
    expect(lines.at(-1)).toBe('Done.')
  })

  test('Ctrl-C at a question: nothing is asked for any more', async () => {
    const file = await agent('leaving', 'steps: [{ calls: [{ tool: write_file, input: { path: leaving.txt, content: text } }] }]', tools)
    const window = troupe(['run', file, 'Go', '--data-dir', 'leaving'], { columns: 100, rows: 40 })
    await window.shows(/\? Write leaving\.txt[\s\S]*\n> $/)
    window.pty.write('\u0003')
    expect(await window.ended).toBe(130)
    const text = window.lines().join('\n')
    expect(text).toMatch(/○ write_file {2}leaving\.txt · skipped/)
    expect(text).not.toContain('needed')
  })

  test('an open question: an answer is required; a resumed team shows its outcome', async () => {
    const ask = 'steps: [{ calls: [{ tool: ask_user, input: { question: Tea or coffee? } }] }, { text: Tea. }]'
    await agent('asker', ask, `${tools}\nusage: x\noutput: { format: text }`)
    const file = await agent(
      'lead',
      'steps: [{ calls: [{ tool: agent__asker, input: { prompt: Ask } }] }, { text: Done. }]',
      'agents: [./asker.ai]',
    )
    const first = troupe(['run', file, 'Go', '--data-dir', 'lead'], { columns: 140, rows: 40 })
    await first.shows(/Tea or coffee\?[\s\S]*\n> $/)
    first.pty.write('\u0004')
    expect(await first.ended).toBe(6)
    const text = first.lines().join('\n')
    expect(text).toMatch(/lead {2}suspended: answer required/)
    expect(text).toMatch(/\? answer required {2}Tea or coffee\?/)
    const [, id = ''] = /--resume (\S+)/.exec(text) ?? []
    const again = troupe(['run', file, '--resume', id, '--data-dir', 'lead'], { columns: 140, rows: 40 })
    await answer(again, /Tea or coffee\?/, 'tea')
    expect(await again.ended).toBe(0)
    expect(again.lines().join('\n')).toMatch(/^lead {2}completed · 2 steps/m)
    expect(again.lines().join('\n')).not.toContain('needed')
  })
})
