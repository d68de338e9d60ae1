import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chatCommands } from '../../src/cli/commands/chat/chat-commands.ts'
import { desk } from './live-window.ts'

const { agent, troupe, folder } = await desk()
const project = await desk()
const endless = 'steps: [{ text: never, delay: 1h }]'
const enter = '\r'
const esc = '\u001b'
const ctrlC = '\u0003'
const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`
/** The line that is typed, empty and ready. */
const ready = /─\n› $/

describe.concurrent('a chat on a terminal', () => {
  test('shows rendered answers above the line, and leaves with the command that continues', async () => {
    const file = await agent('talk', 'steps: [{ text: "Take the **early** train and\\n\\n- a coat" }, { text: Second. }, { text: Third. }]')
    const window = troupe(['chat', file, '--data-dir', 'talk'])
    await window.shows(/talk: A test\n[\s\S]*\n─ script\/talk\.yaml · \/help ─+\n› $/)
    window.pty.write(`Where to?${enter}`)
    const shown = await window.shows(/\n› Where to\?\n\nTake the early train and\n\n• a coat\n[\s\S]*tokens/)
    expect(shown).not.toContain('**')
    expect(window.raw()).toContain('\u001b[1mearly\u001b[22m')
    window.pty.write(ctrlC)
    await window.shows(/Ctrl-C again leaves\n› $/)
    window.pty.write(ctrlC)
    expect(await window.ended).toBe(0)
    const [, id] =
      /Continue: troupe chat talk\.ai --resume (\S+) --data-dir/.exec(
        window
          .lines()
          .join(' ')
          .replace(/\s+troupe/, ' troupe'),
      ) ?? []
    expect(id).toBeDefined()
    expect(window.isCursorVisible()).toBe(true)

    const again = troupe(['chat', file, '--data-dir', 'talk', '--resume', (id ?? '').slice(0, 16)])
    await again.shows(/› Where to\?\n\nTake the early train[\s\S]*─\n› $/)
    // The history of lines outlives the process.
    again.pty.write('\u001b[A')
    await again.shows(/─\n› Where to\?$/)
    again.pty.write(enter)
    await again.shows(/› Where to\?\n\nSecond\.\n/)
    again.pty.write('\u0004')
    expect(await again.ended).toBe(0)
  })

  test('completes commands and paths', async () => {
    const file = await agent('complete', 'steps: [{ text: Done. }]')
    await writeFile(join(folder, 'a-long-name.txt'), '')
    const window = troupe(['chat', file])
    await window.shows(ready)
    window.pty.write('/bud')
    await window.shows(/\n❯ \/budget {4}Show the limits[^\n]*\n[^\n]*\n› \/bud$/)
    window.pty.write(enter)
    await window.shows(/› \/budget\n {2}Steps in a turn {2}0 of 10\n/)
    window.pty.write('Read @a-lo')
    await window.shows(/❯ a-long-name\.txt/)
    window.pty.write('\t')
    await window.shows(/─\n› Read @a-long-name\.txt$/)
    window.pty.write(`${'\u0015'}/nothing${enter}`)
    // Nothing that was typed is lost.
    await window.shows(/error: There is no command \/nothing\.\n→ List them: \/help[\s\S]*─\n› \/nothing$/)
    window.pty.write(ctrlC)
    await window.shows(/Ctrl-C again leaves\n› $/)
    window.pty.write('\u001b[A')
    await window.shows(/─\n› \/nothing$/)
  })

  test('asks in the line: once, with a hint after a wrong answer, and with a reason', async () => {
    const call = (path: string): string => `{ tool: write_file, input: { path: ${path}, content: x } }`
    const script = `steps: [{ calls: [${call('one.txt')}] }, { calls: [${call('two.txt')}] }, { text: Done. }]`
    const window = troupe(['chat', await agent('asks', script, 'tools: [write_file]')], { columns: 100 })
    await window.shows(ready)
    window.pty.write(`Go${enter}`)
    await window.shows(/\? Write one\.txt, a new file[\s\S]*1 request for you\n[\s\S]*\n\? $/)
    window.pty.write(`maybe${enter}`)
    await window.shows(/Type y, n, no REASON, x, s or p|Type y, n/)
    window.pty.write(`y${enter}`)
    await window.shows(/approved\n✓ write_file {2}one\.txt[\s\S]*\? Write two\.txt[\s\S]*\n\? $/)
    window.pty.write(`no not this one${enter}`)
    await window.shows(/denied: not this one\n✗ write_file {2}two\.txt[\s\S]*\nDone\.\n/)
    expect(await readFile(join(folder, 'one.txt'), 'utf8')).toBe('x')
  })

  test('commands work while a request is open, and a grant that decides the next one is named', async () => {
    const call = (path: string): string => `{ tool: write_file, input: { path: ${path}, content: x } }`
    const script = `steps: [{ calls: [${call('three.txt')}, ${call('four.txt')}] }, { text: Done. }]`
    const window = troupe(['chat', await agent('grants', script, 'tools: [write_file]')], { columns: 100 })
    await window.shows(ready)
    window.pty.write(`Go${enter}`)
    await window.shows(/\? Write three\.txt[\s\S]*\n\? $/)
    window.pty.write(`/budget${enter}`)
    await window.shows(/› \/budget\n {2}Steps in a turn {2}1 of 10\n[\s\S]*\n\? $/)
    window.pty.write(`s2${enter}`)
    const shown = await window.shows(/\nDone\.\n/)
    expect(shown).toMatch(/\napproved for the session\ngranted for this session\n✓ write_file /)
    // A question is not answered with a command.
    window.pty.write(`/quit${enter}`)
    expect(await window.ended).toBe(0)
  })

  test('an unknown choice of an agent is asked again', async () => {
    const { agent: another, troupe: start } = project
    await another('first', 'steps: [{ text: One. }]')
    await another('second', 'steps: [{ text: Two. }]')
    const window = start(['chat'])
    await window.shows(/Which agent\?\n {2}1 {2}first[\s\S]*\n> $/)
    window.pty.write('7\n')
    await window.shows(/Type a number from 1 to 2, or a name\.\n> $/)
    window.pty.write('2\n')
    await window.shows(/second: A test\n[\s\S]*─\n› $/)
    window.pty.write(`Go${enter}`)
    await window.shows(/\nTwo\.\n[\s\S]*tokens/)
    // Other sessions are offered, and chosen with the arrows.
    window.pty.write(`/new${enter}`)
    await window.shows(/New session with second\./)
    window.pty.write('/resume ')
    await window.shows(/❯ \S+ {2}second · completed · [^\n]*“Go”\n/)
    window.pty.write(`\u001b[B${enter}`)
    await window.shows(/› \/resume \S+\n› Go\n\nTwo\.\n/)
  })

  test('steers a running turn, and Esc stops it', async () => {
    const window = troupe(['chat', await agent('steered', endless)])
    await window.shows(ready)
    window.pty.write(`Go${enter}`)
    await window.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] steered · step 1 · [\d.]+ s · Esc stops/)
    window.pty.write(`Faster${enter}`)
    await window.shows(/\n› Faster\n/)
    window.pty.write(esc)
    await window.shows(/■ interrupted\n1 message not read yet: sent with your next one\n/)
    window.pty.write(`/cost${enter}`)
    await window.shows(/\n1 turn · /)
  })

  test('takes a paste of a megabyte as a whole', async () => {
    const window = troupe(['chat', await agent('pasted', 'steps: [{ text: Read. }]')])
    await window.shows(ready)
    const text = 'A line of 日本語 text.\r'.repeat(50_000)
    window.pty.write(`See ${paste(text)}`)
    await window.shows(/─\n› See \[Pasted text 1: 50,001 lines\]$/)
    window.pty.write(enter)
    await window.shows(/\nRead\.\n/)
    window.pty.write(`/export out.json${enter}`)
    await window.shows(/Saved in /)
    const { events } = JSON.parse(await readFile(join(folder, 'out.json'), 'utf8'))
    const accepted = events.find(({ type }: { readonly type: string }) => type === 'interaction.input.accepted')
    expect(accepted.parts).toEqual([{ type: 'text', text: `See ${text.replaceAll('\r', '\n')}`.trimEnd() }])
  })

  test('fits windows of 20 columns, that change in mid stream, with wide characters', async () => {
    const script = `pace: 200\nsteps: [{ text: "${'日本語の文章です。 '.repeat(8)}\\n\\n| a | b |\\n|---|---|\\n| a long cell | another one |\\n\\nEnd." }]`
    const window = troupe(['chat', await agent('narrow', script)], { columns: 20, rows: 12 })
    await window.shows(ready)
    window.pty.write(`日本語 and more words than fit${enter}`)
    await window.resize(34, 9)
    await window.resize(20, 14)
    await window.shows(/\nEnd\.\n[\s\S]*─\n› $/)
    const lines = window.lines()
    expect(lines.filter((line) => line.startsWith('─ script'))).toHaveLength(1)
    expect(lines.filter((line) => line === 'End.')).toHaveLength(1)
  })
})

test('the page has every command, with its argument', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'chat.md'), 'utf8')
  for (const { name, argument } of chatCommands) expect(page).toContain(`| \`/${name}${argument === undefined ? '' : ` ${argument}`}\` |`)
})

test('a chat with a running server: answers, requests, copies and a stop', async () => {
  const served = await desk()
  await served.agent(
    'far',
    'steps: [{ calls: [{ tool: write_file, input: { path: far.txt, content: x } }] }, { text: "It is **written**." }, { text: never, delay: 1h }]',
    'usage: anything\ntools: [write_file]',
  )
  const server = served.troupe(['serve', '--port', '0'], { columns: 160 })
  const [, address = ''] = /(http:\S+#token=\S+)/.exec(await server.shows(/#token=\S+\n[\s\S]*Reference/)) ?? []
  // On the same machine, the token of the data folder is found.
  const window = served.troupe(['chat', '--connect', address.replace(/\/?#.*/, '')], { columns: 100 })
  await window.shows(ready)
  window.pty.write(`Go${enter}`)
  await window.shows(/\? Write far\.txt[\s\S]*\n\? $/)
  window.pty.write(`y${enter}`)
  await window.shows(/✓ write_file {2}far\.txt[\s\S]*\nIt is written\.\n/)
  window.pty.write(`/fork${enter}`)
  await window.shows(/This is a copy of /)
  window.pty.write(`More${enter}`)
  await window.shows(/› More\n[\s\S]*Esc stops/)
  window.pty.write(esc)
  await window.shows(/■ interrupted\n/)
  window.pty.write(`/sessions${enter}`)
  await window.shows(/far · interrupted · [\s\S]*far · completed · [\s\S]*Continue one/)
  window.pty.write(`/tools${enter}`)
  await window.shows(/write_file {2}\[depends\]/)
  window.pty.write(`/model rehearsal${enter}`)
  await window.shows(/The server has no model rehearsal for far\.\n→ Use one of: script\/far\.yaml/)
  const refused = served.troupe(['chat', '--connect', address.replace(/token=.*/, 'token=wrong')])
  expect(await refused.ended).toBe(2)
  expect(refused.lines().join(' ')).toMatch(/error: .*TROUPE_TOKEN|error: .*[Tt]oken/)
  server.pty.kill('SIGKILL')
  await window.shows(/far · connection lost: trying again\n/)
  window.pty.write('\u0004')
  expect(await window.ended).toBe(0)
  expect(window.lines().join(' ')).toMatch(/Continue: {1,3}troupe chat --connect http:\S+ --resume /)
})

describe.concurrent('no escape byte', () => {
  test.each([
    [{ NO_COLOR: '1' }, []],
    [{ TERM: 'dumb' }, []],
    [{}, ['--plain']],
  ])('with %j %j', async (env, flags) => {
    const file = await agent(
      'spoken',
      'steps: [{ calls: [{ tool: write_file, input: { path: b.txt, content: x } }] }, { text: "Hello **you**." }]',
      'tools: [write_file]',
    )
    const window = troupe(['chat', file, ...flags], { env })
    await window.shows(/^> $/m)
    window.pty.write(`Go${enter}`)
    await window.shows(/\? Write b\.txt[\s\S]*> $/)
    window.pty.write(`n${enter}`)
    await window.shows(/\nHello you\.\n> $/)
    window.pty.write('\u0004')
    expect(await window.ended).toBe(0)
    expect(window.raw()).not.toContain(esc)
    expect(window.raw()).toMatch(/Continue:\s+troupe chat spoken\.ai --resume /)
  })
})
