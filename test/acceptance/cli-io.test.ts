/* Issue 3, Deliver 6: standard input, standard output and standard error of `troupe run`. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bin, documentOf, esc, linesOf, place, saying } from './command.ts'
import { until } from './support.ts'
import { lab, provider, reply } from './wire.ts'

/** What reached the model as the words of the user. */
async function heard(args: (file: string) => readonly string[], stdin?: string, text = 'Hello.') {
  const server = await provider(reply(lab, { text }))
  const where = place()
  const file = where.agent('a.ai', 'models: lab/tiny-1')
  const ran = await where.run(args(file), { ...(stdin !== undefined && { stdin }), env: { LAB_BASE_URL: `${server.url}/v1` } })
  const content = server.asked[0]?.body.messages.at(-1)?.content
  return { ...ran, heard: content as string | undefined, asked: server.asked }
}

describe('the prompt', () => {
  test('is the argument', async () => {
    expect(await heard((file) => ['run', file, 'Where is Oslo?'])).toMatchObject({ code: 0, heard: 'Where is Oslo?' })
  })
  test('and what is piped in below it, after a blank line', async () => {
    expect((await heard((file) => ['run', file, 'Summarise'], 'line one\nline two\n')).heard).toMatch(
      /^Summarise\n\nline one\nline two\n?$/,
    )
  })
  test('`-` reads it from standard input', async () => {
    expect((await heard((file) => ['run', file, '-'], 'From a pipe\n')).heard).toMatch(/^From a pipe\n?$/)
  })
  test('without an argument what is piped in is the prompt', async () => {
    expect((await heard((file) => ['run', file], 'Just this')).heard).toBe('Just this')
  })
  test('an empty standard input adds nothing and does not hang', async () => {
    expect(await heard((file) => ['run', file, 'Alone'], '')).toMatchObject({ code: 0, heard: 'Alone' })
  })
  test('a standard input that stays open and silent beside a prompt does not hang without a word', async () => {
    const { cwd, agent } = place()
    const child = spawn(process.execPath, [bin, 'run', agent('a.ai', 'models: rehearsal'), 'Hello'], {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let told = ''
    child.stderr.on('data', (chunk) => (told += chunk))
    await until('it has run, or says what it waits for', () => /stdin|standard input|step 1/.test(told), 30_000)
  })
  test('no prompt at all is wrong usage, said at once', async () => {
    for (const ran of await Promise.all([[], ['-']].map((args) => heard((file) => ['run', file, ...args], '')))) {
      expect(ran).toMatchObject({ code: 2, stdout: '', asked: [] })
      expect(ran.stderr).toMatch(/prompt/i)
    }
  })
  test('several words that nobody has quoted are wrong usage, not a part of the prompt', async () => {
    const ran = await heard((file) => ['run', file, 'two', 'words'])
    if (ran.code === 0) expect(ran.heard).toBe('two words')
    else expect(ran).toMatchObject({ code: 2, asked: [] })
  })
  test('text of other scripts survives both ways', async () => {
    const text = 'Smörgåsbord 日本語 🎉'
    expect(await heard((file) => ['run', file, text], `${text}\n`, text)).toMatchObject({
      heard: expect.stringMatching(`^${text}\n\n${text}\n?$`),
      stdout: `${text}\n`,
    })
  })
  test('a prompt that looks like a flag goes behind --', async () => {
    expect(await heard((file) => ['run', file, '--', '--not-a-flag'])).toMatchObject({ code: 0, heard: '--not-a-flag' })
  })
  test('the file alone is a command: troupe FILE.ai PROMPT', async () => {
    expect(await heard((file) => [`./${file}`, 'Hi there'])).toMatchObject({ code: 0, heard: 'Hi there', stdout: 'Hello.\n' })
  })
})

describe('standard output', () => {
  test('is exactly the answer and a newline, whatever standard error is told to do', async () => {
    const text = '# Title\n\n* x\n\nlast line'
    const { run, name } = saying(text)
    const ways = [[], ['--quiet'], ['--verbose'], ['--log-format', 'json'], ['--color', 'always']]
    const all = await Promise.all(ways.map((flags) => run(['run', name, 'Hi', ...flags])))
    expect(all.map(({ stdout }) => stdout)).toEqual(ways.map(() => `${text}\n`))
  })
  test('two megabytes come out as they went in', async () => {
    const text = Array.from({ length: 40_000 }, (_, n) => `line ${n} of a long answer, with an ø in it.`).join('\n')
    const server = await provider({ body: lab.events({ text }).list.join('') })
    const { run, agent } = place()
    const ran = await run(['run', agent('a.ai', 'models: lab/tiny-1'), 'Hi', '--quiet'], { env: { LAB_BASE_URL: `${server.url}/v1` } })
    expect(ran.code).toBe(0)
    expect(ran.stdout === `${text}\n`).toBe(true)
  })
  test('a last newline of the answer is not doubled', async () => {
    const { run, name } = saying('Hello.\n')
    expect((await run(['run', name, 'Hi'])).stdout).toBe('Hello.\n')
  })
  test('text of steps before the answer is not part of it', async () => {
    const server = await provider(
      { status: 500, headers: { 'content-type': 'application/json' }, body: '{}' },
      { body: lab.events({ text: 'Half an answ' }).list.slice(0, 2).join(''), cut: true },
      reply(lab, { text: 'The answer.' }),
    )
    const { run, agent } = place()
    const ran = await run(['run', agent('a.ai', 'models: lab/tiny-1'), 'Hi'], { env: { LAB_BASE_URL: `${server.url}/v1` } })
    expect(ran).toMatchObject({ code: 0, stdout: 'The answer.\n' })
    expect(server.asked).toHaveLength(3)
  })
  test('is empty where there is no answer', async () => {
    const { run, agent, file } = place()
    file('s.yaml', 'steps:\n  - text: Half\n    fault: network\n')
    const ran = await run(['run', agent('a.ai', 'models: script/s.yaml\nlimits: { maxRetries: 0 }'), 'Hi'])
    expect(ran).toMatchObject({ code: 4, stdout: '' })
  })
  test('an answer that is JSON is printed as JSON that can be read again', async () => {
    const { run, name } = saying(
      '```json\n{"city": "Oslo"}\n```',
      'output: { schema: { type: object, properties: { city: { type: string } }, required: [city] } }',
    )
    const ran = await run(['run', name, 'Hi'])
    expect(JSON.parse(ran.stdout)).toEqual({ city: 'Oslo' })
  })
  test('a reader that goes away is not a crash', async () => {
    const { start, name } = saying('x'.repeat(300_000))
    const { child, ended } = start(['run', name, 'Hi', '--quiet'])
    child.stdout?.destroy()
    const { stderr } = await ended
    expect(stderr).not.toMatch(/at .*\.js:\d+|EPIPE|Unhandled/)
  })
})

describe('--json', () => {
  test('prints one document that fits the published schema', async () => {
    const { run, name } = saying('Hello.')
    const ran = await run(['run', name, 'Hi', '--json'])
    expect(documentOf(ran)).toMatchObject({
      ok: true,
      status: 'completed',
      exitCode: 0,
      report: { text: 'Hello.' },
      diagnostics: expect.any(Array),
    })
  })
  test('also where the model fails', async () => {
    const { run, agent, file } = place()
    file('s.yaml', 'steps:\n  - text: Half\n    fault: auth\n')
    const ran = await run(['run', agent('a.ai', 'models: script/s.yaml'), 'Hi', '--json'])
    expect(ran.code).toBe(3)
    expect(documentOf(ran)).toMatchObject({
      ok: false,
      status: 'failed',
      exitCode: 3,
      failure: { class: 'auth', remedy: expect.any(String) },
    })
  })
  test('also where nothing could be started: each with its code, message and remedy', async () => {
    const { run, agent, file, cwd } = place()
    file('bad.ai', '---\ndescription: d\nmodles: x\nlimits: { maxRetrys: 1 }\n---\nYou.\n')
    const fine = agent('fine.ai', 'models: rehearsal')
    const cases = [
      [['run', 'missing.ai', 'Hi', '--json'], 2, /usage|agent_file_invalid|config_invalid/],
      [['run', 'bad.ai', 'Hi', '--json'], 2, /agent_file_invalid/],
      [['run', fine, 'Hi', '--json', '--nonsense'], 2, /usage/],
      [['run', fine, '--json'], 2, /usage/],
      [['run', fine, 'Hi', '--json', '--model', 'openai/gpt-4o'], 3, /model_key_missing/],
      [['run', fine, 'Hi', '--json', '--model', 'no-such-model'], 3, /model_unknown/],
    ] as const
    const all = await Promise.all(cases.map(async ([args, exit, code]) => ({ args, exit, code, ran: await run(args) })))
    for (const { args, exit, code, ran } of all) {
      expect(ran.code, args.join(' ')).toBe(exit)
      const document = documentOf(ran)
      expect(document, cwd).toMatchObject({
        ok: false,
        exitCode: exit,
        error: { code: expect.stringMatching(code), message: expect.any(String) },
      })
      expect(JSON.stringify(document.error)).toMatch(/remedy/)
    }
  })
})

describe('--stream-json', () => {
  test('prints each event on a line that fits the published schema, and ends with run.completed', async () => {
    const { run, name } = saying('Hello.')
    const lines = linesOf(await run(['run', name, 'Hi', '--stream-json']))
    expect(lines.at(-1)).toMatchObject({ type: 'run.completed', exitCode: 0 })
    expect(lines.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['interaction.session.created', 'interaction.turn.completed', 'interaction.item.delta']),
    )
    expect(lines.filter(({ type }) => type === 'interaction.item.delta').every((line) => !('seq' in line))).toBe(true)
  })
  test('ends with run.failed where there is no answer, with the exit code', async () => {
    const { run, agent, file } = place()
    file('s.yaml', 'steps:\n  - text: Half\n    fault: network\n  - fault: network\n')
    const ran = await run(['run', agent('a.ai', 'models: script/s.yaml\nlimits: { maxRetries: 1 }'), 'Hi', '--stream-json'])
    expect(linesOf(ran).at(-1)).toMatchObject({ type: 'run.failed', exitCode: 4 })
    expect(ran.code).toBe(4)
  })
  test('also where nothing could be started', async () => {
    const ran = await place().run(['run', 'missing.ai', 'Hi', '--stream-json'])
    expect(linesOf(ran)).toMatchObject([{ type: 'run.failed', exitCode: 2 }])
  })
  test('comes while the run goes on, not at its end', async () => {
    const server = await provider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(lab.events({ text: 'Well, well.' }).list.slice(0, 2).join(''))
      return undefined
    })
    const { start, agent } = place()
    const { child, ended } = start(['run', agent('a.ai', 'models: lab/tiny-1'), 'Hi', '--stream-json'], {
      LAB_BASE_URL: `${server.url}/v1`,
    })
    await new Promise<void>((resolve) => {
      let seen = ''
      child.stdout?.on('data', (chunk) => {
        seen += chunk
        if (seen.includes('"Well, "')) resolve()
      })
    })
    child.kill('SIGINT')
    expect(linesOf(await ended).at(-1)).toMatchObject({ type: 'run.failed', exitCode: 130 })
  })
  test('does not go with --json: wrong usage', async () => {
    const { run, name } = saying('Hello.')
    expect(await run(['run', name, 'Hi', '--json', '--stream-json'])).toMatchObject({ code: 2 })
  })
})

describe('standard error', () => {
  test('has plain lines where it is no terminal, without an escape byte', async () => {
    const { run, name } = saying('Hello.')
    const ways = [{}, { NO_COLOR: '1' }, { TERM: 'dumb' }, { TERM: 'xterm-256color' }]
    for (const { stderr } of await Promise.all(ways.map((env) => run(['run', name, 'Hi'], { env })))) {
      expect(stderr).toContain('script/say.yaml')
      expect(stderr).not.toContain(esc)
    }
  })
  test('--color always overrides that, also NO_COLOR', async () => {
    const { run, name } = saying('Hello.')
    const { stderr, stdout } = await run(['run', name, 'Hi', '--color', 'always'], { env: { NO_COLOR: '1' } })
    expect(stderr).toContain(esc)
    expect(stdout).not.toContain(esc)
    expect(await run(['run', name, 'Hi', '--color', 'sometimes'])).toMatchObject({ code: 2 })
  })
  test('--quiet leaves it empty, but for errors', async () => {
    const { run, name, agent, file } = saying('Hello.')
    expect(await run(['run', name, 'Hi', '--quiet'])).toMatchObject({ code: 0, stderr: '', stdout: 'Hello.\n' })
    expect(await run(['run', name, 'Hi', '-q'])).toMatchObject({ code: 0, stderr: '' })
    file('s.yaml', 'steps:\n  - fault: auth\n')
    const failing = await run(['run', agent('f.ai', 'models: script/s.yaml'), 'Hi', '--quiet'])
    expect(failing.code).toBe(3)
    expect(failing.stderr).toMatch(/key/)
  })
  test('--verbose tells more: attempts, and where the journal is; not with --quiet', async () => {
    const { run, name, cwd } = saying('Hello.')
    const [plain, more] = await Promise.all([run(['run', name, 'Hi']), run(['run', name, 'Hi', '--verbose', '--data-dir', 'here'])])
    expect(more.stderr.length).toBeGreaterThan(plain.stderr.length)
    expect(more.stderr).toContain('here')
    expect(readdirSync(cwd)).toContain('here')
    expect(await run(['run', name, 'Hi', '--verbose', '--quiet'])).toMatchObject({ code: 2 })
  })
  test('--log-format json makes a document of every line, errors too', async () => {
    const { run, name } = saying('Hello.')
    const ways = [
      ['run', name, 'Hi'],
      ['run', name, 'Hi', '--verbose'],
      ['run', 'missing.ai', 'Hi'],
      ['run', name, 'Hi', '--model', 'openai/gpt-4o'],
      ['run', name],
    ]
    for (const { stderr } of await Promise.all(ways.map((args) => run([...args, '--log-format', 'json'])))) {
      const lines = stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(lines.length).toBeGreaterThan(0)
      for (const line of lines)
        expect(line).toMatchObject({ time: expect.stringMatching(/^\d{4}-/), level: expect.any(String), msg: expect.any(String) })
    }
    expect(await run(['run', name, 'Hi', '--log-format', 'xml'])).toMatchObject({ code: 2 })
  })
  test('control characters of a model do not reach it', async () => {
    const { run, agent, file } = place()
    file(
      's.yaml',
      `steps:\n  - text: "Hi"\n    calls: [{ tool: "x\\u001b[2Jy", input: { reason: "\\u001b]0;evil\\u0007" } }]\n  - text: Done.\n`,
    )
    const { stderr } = await run(['run', agent('a.ai', 'models: script/s.yaml'), 'Hi', '--verbose'])
    expect(stderr).not.toContain(esc)
  })
})
