import { describe, expect, test } from 'vitest'
import type { ApprovalId, ApprovalRequest, ItemId } from '../../../contracts/index.ts'
import { colourPaint, plainPaint } from '../../terminal/paint.ts'
import { widthOf } from '../../terminal/text-width.ts'
import { questionLines, type ShownRequest } from './question-lines.ts'

const base = { id: 'a' as ApprovalId, itemId: 't1.s1.1' as ItemId, agentPath: 'root', scope: 'call' } as const
const write: ApprovalRequest = {
  ...base,
  tool: 'write_file',
  summary: 'Write src/a.ts',
  input: { path: 'src/a.ts', content: 'export const a = 1\n\tif (a) {}\n' },
  keys: [{ key: 'path:/srv/src/a.ts', label: 'src/a.ts' }],
  wider: [
    { key: 'path:/srv/src/', label: 'any file in src/', isPrefix: true },
    { key: 'tool:write_file', label: 'any call of write_file' },
  ],
}
const run = (command: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  ...base,
  tool: 'shell',
  summary: `Run ${command}`,
  input: { command },
  keys: [{ key: `script:${JSON.stringify(command)}`, label: `exactly this: ${command}` }],
  ...more,
})
const drawn = (asked: Partial<ShownRequest> & Pick<ShownRequest, 'request'>, width = 79): string =>
  `\n${questionLines({ label: '', ...asked }, { paint: plainPaint, width }).join('\n')}\n`

describe('what a person is shown', () => {
  test('a file: the arguments, then as few lines of choices as fit', () => {
    expect(drawn({ request: { ...write, reason: 'The types are missing' } })).toMatchInlineSnapshot(`
      "
      ? Write src/a.ts  write_file
        “The types are missing”
        content │ export const a = 1
                │         if (a) {}
                │
        y yes · n no · no REASON deny with a reason · x no, and end the run
        s for this session, p for this project: src/a.ts · s1 p1 any file in src/
        s2 p2 any call of write_file
      "
    `)
    expect(drawn({ request: write }, 140)).toMatchInlineSnapshot(`
      "
      ? Write src/a.ts  write_file
        content │ export const a = 1
                │         if (a) {}
                │
        y yes · n no · no REASON deny with a reason · x no, and end the run
        s for this session, p for this project: src/a.ts · s1 p1 any file in src/ · s2 p2 any call of write_file
      "
    `)
  })

  test('what has left the window by its length is said again at the answers', () => {
    const command = ['rm -rf important', ...Array.from({ length: 120 }, () => '# check formatting'), 'echo checked'].join('\n')
    const shown = (request: ApprovalRequest, height?: number): readonly string[] =>
      questionLines({ label: 'scout', request }, { paint: plainPaint, width: 79, ...(height !== undefined && { height }) })
    const [title, ...rest] = shown(run(command), 24)
    expect(title).toMatch(/^\? scout · Run rm -rf important ⏎ # check formatting/)
    expect(rest.slice(121, 126)).toEqual([
      '          │ echo checked',
      title,
      '  123 lines; scroll up to read all of them before you answer',
      '  y yes · n no · no REASON deny with a reason · x no, and end the run',
      '  s for this session, p for this project:',
    ])
    expect(shown(run(command, { scope: 'unsandboxed' }), 24).slice(-6, -2)).toEqual([
      title,
      '  outside the sandbox: with all permissions of your user account',
      '  124 lines; scroll up to read all of them before you answer',
      '  y yes · n no · no REASON deny with a reason · x no, and end the run',
    ])
    expect(shown(run(command)).filter((line) => line === title)).toHaveLength(1)
  })

  test('what fits the window, with the row of the answer, is said once', () => {
    const whole = questionLines({ label: '', request: write }, { paint: plainPaint, width: 79 })
    const at = (height: number): readonly string[] => questionLines({ label: '', request: write }, { paint: plainPaint, width: 79, height })
    expect(at(whole.length + 1)).toEqual(whole)
    expect(at(whole.length)).toHaveLength(whole.length + 2)
  })

  test('a command that the summary shows in full is not repeated', () => {
    const wider = [{ key: 'command:npm test ', label: 'any npm test …', isPrefix: true }]
    expect(
      drawn({ request: run('npm test -- --run', { keys: [{ key: 'k', label: 'npm test -- --run' }], wider }) }),
    ).toMatchInlineSnapshot(`
      "
      ? Run npm test -- --run  shell
        y yes · n no · no REASON deny with a reason · x no, and end the run
        s for this session, p for this project: npm test -- --run
        s1 p1 any npm test …
      "
    `)
  })

  test('who asks, and that it is outside the sandbox', () => {
    expect(drawn({ request: run('make install', { scope: 'unsandboxed' }), label: 'lead/scout#2' })).toMatchInlineSnapshot(`
      "
      ? lead/scout#2 · Run make install  shell
        outside the sandbox: with all permissions of your user account
        y yes · n no · no REASON deny with a reason · x no, and end the run
        s for this session, p for this project: exactly this: make install
      "
    `)
  })

  test('a command of many lines, with spaces that matter and characters that hide', () => {
    const command = `cat <<'E' > x\n  a\u001b[2J\u202eb\nE\n${' '.repeat(70)}? Write notes.txt`
    expect(drawn({ request: run(command) }, 60)).toMatchInlineSnapshot(`
      "
      ? Run cat <<'E' > x ⏎ a<U+001B>[2J<U+202E>b ⏎ E ⏎ ? …  shell
        command │ cat <<'E' > x
                │   a<U+001B>[2J<U+202E>b
                │ E
                │
                │                       ? Write notes.txt
        y yes · n no · no REASON deny with a reason
        x no, and end the run
        s for this session, p for this project:
          │ exactly this: cat <<'E' > x
          │     a<U+001B>[2J<U+202E>b
          │   E
          │
          │                     ? Write notes.txt
      "
    `)
  })

  test('other values as JSON, names and all', () => {
    const input = {
      urls: ['https://a.example', 'https://b.example'],
      deep: { list: Array.from({ length: 12 }, (_, i) => `number ${i}`) },
      'o\u001bdd': null,
    }
    expect(drawn({ request: { ...base, tool: 'get', summary: 'Get pages', input, keys: [] } })).toMatchInlineSnapshot(`
      "
      ? Get pages  get
        urls        │ ["https://a.example","https://b.example"]
        deep        │ {
                    │   "list": [
                    │     "number 0",
                    │     "number 1",
                    │     "number 2",
                    │     "number 3",
                    │     "number 4",
                    │     "number 5",
                    │     "number 6",
                    │     "number 7",
                    │     "number 8",
                    │     "number 9",
                    │     "number 10",
                    │     "number 11"
                    │   ]
                    │ }
        o<U+001B>dd │ null
        y yes · n no · no REASON deny with a reason · x no, and end the run
      "
    `)
  })

  test('a question, with and without options', () => {
    const asks = (text: string, options?: readonly string[]): ApprovalRequest => ({
      ...base,
      scope: 'question',
      tool: 'ask_user',
      summary: text,
      input: {},
      keys: [],
      question: { text, ...(options && { options }) },
    })
    expect(drawn({ request: asks('Which colour?\nIt is for the door.', ['red', 'blue']), label: 'painter' })).toMatchInlineSnapshot(`
      "
      ? painter · Which colour?
        │ It is for the door.
        1 red
        2 blue
        a number, or your own answer
      "
    `)
    expect(drawn({ request: asks('What is its name?') })).toMatchInlineSnapshot(`
      "
      ? What is its name?
      "
    `)
  })
})

describe.each([24, 40, 79, 200])('in %d columns', (width) => {
  const long = `echo ${'日本語 word '.repeat(30)}\u001b`
  const lines = questionLines(
    { request: run(long, { scope: 'unsandboxed', reason: 'r'.repeat(300) }), label: 'a child' },
    { paint: plainPaint, width },
  )
  test('no line is wider', () => {
    for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(width)
  })
  test('the arguments are there to the last character', () => {
    const above = lines.slice(0, lines.indexOf(lines.find((line) => line.startsWith('  y yes')) ?? ''))
    const shown = above.filter((line) => line.includes('│ ')).map((line) => line.slice(line.indexOf('│ ') + 2))
    expect(shown.join('').replaceAll(' ', '')).toBe(long.replace('\u001b', '<U+001B>').replaceAll(' ', ''))
  })
})

test('no text of a model reaches the terminal as an escape', () => {
  const evil = 'a\u001b[5mb\u009b5mc'
  const request = { ...run(evil), keys: [{ key: 'k', label: evil }], wider: [{ key: 'w', label: evil }] }
  const text = questionLines({ request: { ...request, reason: evil }, label: evil }, { paint: colourPaint, width: 79 }).join('\n')
  expect(text).toContain('\u001b[36my')
  expect(text).not.toContain('\u001b[5m')
  expect(text).not.toContain('\u009b')
})

describe('what helps to decide', () => {
  test('a file that is there: what would be gone, beside all that would be written', () => {
    const diff = '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1 @@\n-old\u001b[2J\n-older\n+export const a = 1\n'
    const request: ApprovalRequest = {
      ...write,
      summary: 'Overwrite src/a.ts',
      input: { path: 'src/a.ts', content: 'export const a = 1' },
      diff,
    }
    expect(drawn({ request }, 140)).toMatchInlineSnapshot(`
      "
      ? Overwrite src/a.ts  write_file
        content │ export const a = 1
        diff │ @@ -1,2 +1 @@
             │ -old<U+001B>[2J
             │ -older
             │ +export const a = 1
        y yes · n no · no REASON deny with a reason · x no, and end the run
        s for this session, p for this project: src/a.ts · s1 p1 any file in src/ · s2 p2 any call of write_file
      "
    `)
    const long = `@@ -1 +1,90 @@\n${'+more\n'.repeat(90)}`
    expect(drawn({ request: { ...request, diff: long } })).toContain('│ … 31 more lines\n')
    const painted = questionLines({ label: '', request }, { paint: colourPaint, width: 100 })
    expect(painted.find((line) => line.includes('-older'))).toContain('\u001b[31m-older')
  })

  test('a new file is named as new, with its path once', () => {
    expect(drawn({ request: { ...write, summary: 'Write src/a.ts, a new file' } })).not.toMatch(/^ {2}path/m)
  })

  test('leaving the sandbox: what it blocked, and the last output inside', () => {
    const message = 'The output suggests that the sandbox denied a write: touch: /srv/x: Read-only file system'
    const partial = `exit code 1\n${Array.from({ length: 9 }, (_, n) => `line ${n}`).join('\n')}\ntouch: /srv/x: Read-only file system\n`
    const request = run('touch /srv/x', {
      scope: 'unsandboxed',
      summary: 'Run shell again outside the sandbox',
      inside: { error: { class: 'sandbox', message }, partial },
    })
    expect(drawn({ request })).toMatchInlineSnapshot(`
      "
      ? Run again outside the sandbox: touch /srv/x  shell
        outside the sandbox: with all permissions of your user account
        │ The output suggests that the sandbox denied a write: touch: /srv/x: Read-on
        │ ly file system
        │ line 5
        │ line 6
        │ line 7
        │ line 8
        │ touch: /srv/x: Read-only file system
        y yes · n no · no REASON deny with a reason · x no, and end the run
        s for this session, p for this project: exactly this: touch /srv/x
      "
    `)
  })
})
