import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Outcome, StreamEvent } from '../../src/contracts/index.ts'
import { binary, workbench } from './troupe.ts'

const { agent, start, troupe, folder } = await workbench()

const hello = await agent('hello', 'steps: [{ text: "Hello.\\nHow are you?", usage: { input: 3, output: 5 } }]')

describe('an answer', () => {
  test('stdout is exactly the answer and a newline, and no pipe sees an escape', async () => {
    const ended = await troupe(['run', hello, 'Hi'])
    expect(ended).toMatchObject({ code: 0, stdout: 'Hello.\nHow are you?\n' })
    expect(ended.stderr).toMatch(/^step 1 script\/hello\.yaml\n\nhello {2}completed · 1 step .* 3 → 5 /)
    expect(ended.stderr).not.toContain('\u001b')
  })

  test('--quiet leaves standard error empty', async () => {
    expect(await troupe(['run', hello, 'Hi', '--quiet'])).toEqual({ code: 0, stdout: 'Hello.\nHow are you?\n', stderr: '' })
  })

  test('--json is one document: the outcome, its snapshot and the exit code', async () => {
    const ended = await troupe(['run', hello, 'Hi', '--json', '--quiet'])
    const document: Outcome & { exitCode: number } = JSON.parse(ended.stdout)
    expect(document).toMatchObject({
      status: 'completed',
      exitCode: 0,
      report: { format: 'markdown', text: 'Hello.\nHow are you?' },
      usage: { input: 3, output: 5 },
      cost: 0,
      snapshot: { version: 1, selectedAgent: { name: 'hello', models: ['script/hello.yaml'], tools: [] } },
    })
    expect(document.snapshot.history[0]).toEqual({ role: 'user', parts: [{ type: 'text', text: 'Hi' }] })
    expect(ended.stdout.trimEnd()).not.toContain('\n')
  })

  test('--stream-json is every event, one a line, durable ones without a gap', async () => {
    const ended = await troupe(['run', hello, 'Hi', '--stream-json', '--quiet'])
    const events: StreamEvent[] = ended.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const durable = events.filter((event) => 'seq' in event)
    expect(durable.map(({ seq }) => seq)).toEqual(durable.map((_, i) => i + 1))
    expect(durable[0]?.type).toBe('interaction.session.created')
    expect(durable.at(-1)?.type).toBe('interaction.session.idle')
    expect(events.some((event) => event.type === 'interaction.item.delta')).toBe(true)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
  })

  test('the journal is kept where --data-dir says, else in the state folder', async () => {
    await troupe(['run', hello, 'Hi', '--data-dir', 'kept/here'])
    expect(await readdir(join(folder, 'kept/here'))).toContain('troupe.db')
    await troupe(['run', hello, 'Hi'], { env: { XDG_STATE_HOME: join(folder, 'other') } })
    expect(await readdir(join(folder, 'other/troupe'))).toContain('troupe.db')
  })

  test('an agent file is a program', async () => {
    const file = join(folder, 'program.ai')
    await writeFile(file, '#!/usr/bin/env troupe\n---\ndescription: x\nmodels: script/hello.yaml\n---\nGreet.')
    await chmod(file, 0o755)
    await mkdir(join(folder, 'bin'))
    await symlink(binary, join(folder, 'bin/troupe'))
    expect(await start(['program.ai', 'Hi', '-q'], { binary: join(folder, 'bin/troupe') }).ended).toMatchObject({
      code: 0,
      stdout: 'Hello.\nHow are you?\n',
    })
  })
})

describe('standard input', () => {
  const promptOf = async (args: readonly string[], input?: string): Promise<unknown> => {
    const { stdout } = await troupe(['run', hello, '--json', '-q', ...args], input === undefined ? {} : { input })
    const { snapshot }: Outcome = JSON.parse(stdout)
    const [first] = snapshot.history
    return first?.role === 'user' && first.parts[0]?.type === 'text' ? first.parts[0].text : undefined
  }
  test('is added below the prompt', async () => expect(await promptOf(['Look at this:'], 'a\nb\n')).toBe('Look at this:\n\na\nb'))
  test('is the prompt for -', async () => expect(await promptOf(['-'], 'a\n')).toBe('a'))
  test('is the prompt if there is none', async () => expect(await promptOf([], 'a\n')).toBe('a'))
  test('must be text', async () => {
    expect(await troupe(['run', hello, 'Hi'], { input: new Uint8Array([0xff, 0xfe]) })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('not UTF-8 text'),
    })
  })
})

describe('an answer that is partial or missing', () => {
  const endless = `steps:\n${Array.from({ length: 11 }, (_, i) => `  - { text: As far as I came., calls: [{ tool: none, input: { n: ${i} } }] }`).join('\n')}`
  test('an answer that is only partial is still printed', async () => {
    const ended = await troupe(['run', await agent('endless', endless), 'Go'])
    expect(ended).toMatchObject({
      code: 5,
      stdout: 'As far as I came.\n',
      stderr: expect.stringContaining('partial: step limit'),
    })
  })

  test.each([
    ['text', 'error: The answer is partial: step limit.\n→ Raise limits.maxToolTurns of quiet-text (on the command line: --max-steps).\n'],
    ['json', expect.stringMatching(/"level":"error","msg":"The answer is partial: step limit\.".*--max-steps.*\}\n$/)],
  ])('why it is not 0 is said in a line however quiet it is to be: %s', async (...row) => {
    const [format, stderr] = row
    const ended = await troupe(['run', await agent(`quiet-${format}`, endless), 'Go', '-q', '--log-format', format])
    expect(ended).toMatchObject({ code: 5, stdout: 'As far as I came.\n', stderr })
  })

  test('a failure prints no answer, but what happened and what to do', async () => {
    const ended = await troupe(['run', await agent('refused', 'steps: [{ text: Half, fault: auth }]'), 'Go'])
    expect(ended).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('error: ') })
  })

  test('a data folder that cannot be used', async () => {
    await writeFile(join(folder, 'no-folder'), '')
    const ended = await troupe(['run', hello, 'Hi', '--json', '--data-dir', 'no-folder/in-a-file'])
    expect(ended.code).toBe(2)
    expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'config_invalid' }, exitCode: 2 })
  })

  test('--dry-run prints the agents that the agent may call, their agents and models', async () => {
    const settings = (name: string, more: string): string =>
      `description: Knows ${name}\nusage: a question\noutput: { format: markdown }\nmodels: script/${name}.yaml\n${more}`
    await agent('leaf', 'steps: [{ text: ok }]', settings('leaf', 'tools: [read_file]'))
    await agent('middle', 'steps: [{ text: ok }]', settings('middle', 'agents: [./leaf.ai]'))
    const top = await agent('top', 'steps: [{ text: ok }]', settings('top', 'agents: [./middle.ai]'))
    const team = [
      { name: 'middle', models: [expect.stringMatching(/middle\.yaml$/)], tools: [], agents: ['leaf'] },
      { name: 'leaf', models: [expect.stringMatching(/leaf\.yaml$/)], tools: ['read_file'], agents: [] },
    ]
    const { stdout } = await troupe(['run', top, 'Hi', '--dry-run', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, team: expect.arrayContaining(team) })
    const people = (await troupe(['run', top, 'Hi', '--dry-run'])).stdout
    expect(people).toMatch(/\n {2}agents +\w+: script/)
    expect(people).toContain('· calls leaf\n')
    expect(people).toContain('· tools read_file\n')
  })

  test.each(['/dev/null', 'no-folder-either/in-a-file'])('--dry-run finds that too: %s', async (path) => {
    await writeFile(join(folder, 'no-folder-either'), '')
    const ended = await troupe(['run', hello, 'Hi', '--dry-run', '--data-dir', path])
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('is not a folder') })
  })

  test('without a home in the environment, journals go where the system says that it is', async () => {
    const ended = await troupe(['run', hello, 'Hi', '--dry-run', '--json'], { env: { HOME: '', XDG_STATE_HOME: '' } })
    expect(JSON.parse(ended.stdout)).toMatchObject({ journal: join(userInfo().homedir, '.local/state/troupe') })
  })

  test.each(['auto', 'openai/gpt-5', 'nowhere/x'])('without a model (%s), a complete command continues without one', async (model) => {
    const name = `it is ${model.replace('/', ' ')}`
    const ended = await troupe(['run', await agent(name, '', `description: x\nmodels: ${model}`), 'Go'])
    expect(ended).toMatchObject({ code: 3, stdout: '' })
    const [, command = ''] = /\btroupe (run .*)$/m.exec(ended.stderr) ?? []
    const words = (command.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'))
    expect(words).toEqual(['run', `${name}.ai`, '…', '--model', 'rehearsal'])
    expect(await troupe([...words, '--help'])).toMatchObject({ code: 0, stderr: '' })
    expect(await troupe(words)).toMatchObject({ code: 0 })
  })

  test('a folder is reported as such, and not as a misspelt name', async () => {
    await mkdir(join(folder, 'team.ai'))
    const ended = await troupe(['run', 'team.ai', 'Hi'])
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('team.ai  It is a folder.') })
    expect(ended.stderr).not.toContain('Did you mean')
  })

  test('a file that is not there, with its neighbours', async () => {
    const ended = await troupe(['run', 'helo.ai', 'Hi'])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(/^error: .*\.\n\n {2}helo\.ai {2}There is no such file or folder\.\n {4}→ Did you mean `?hello\.ai`?\?\n$/)
  })
})

describe('all problems are reported together', () => {
  test('flags and arguments', async () => {
    const ended = await troupe(['run', '--jsn', '--quiet=1', '--data-dir'])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    for (const place of ['--jsn', '--quiet', '--data-dir', 'FILE']) expect(ended.stderr).toMatch(new RegExp(`^  ${place}  `, 'm'))
    expect(ended.stderr).toContain('Did you mean --json?')
  })

  test('flags and arguments, as JSON', async () => {
    const ended = await troupe(['run', '--json', '--quite'])
    expect(JSON.parse(ended.stdout)).toMatchObject({
      error: { code: 'usage', problems: [{ place: '--quite' }, { place: 'FILE' }] },
      exitCode: 2,
    })
    expect(ended.code).toBe(2)
  })

  test('a file, its place, its lines, and a missing prompt', async () => {
    await writeFile(join(folder, 'wrong.ai'), '---\ndescripton: x\nmodels: 7\n---\n')
    const ended = await troupe(['run', 'wrong.ai'])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatchInlineSnapshot(`
      "error: There are 5 problems.

        wrong.ai:1:1  \`description\` is missing.
          1 │ ---
            │ ^
          → Add one line, such as \`description: Plans a trip by rail\`.

        wrong.ai:2:1  Unknown key \`descripton\`.
          2 │ descripton: x
            │ ^
          → Did you mean \`description\`?

        wrong.ai:3:9  A model must be a name, not the number 7.
          3 │ models: 7
            │         ^
          → Write it like \`models: [anthropic/claude-sonnet-5, openai/gpt-5.4-mini]\`.

        wrong.ai:4:1  The prompt is empty.
          4 │ ---
            │ ^
          → Write the instructions for the agent below the closing \`---\`.

        PROMPT  The prompt is missing.
          → Pass a prompt: troupe run FILE "…", or pipe it in.
      "
    `)
  })
})
