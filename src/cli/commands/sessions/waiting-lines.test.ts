import { describe, expect, test } from 'vitest'
import type { ApprovalId, ApprovalRequest, ItemId, RunOrigin, TreeEntry, TreeId } from '../../../contracts/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { waitingLines } from './waiting-lines.ts'
import type { WaitingRequest } from './waiting-requests.ts'

const run: TreeEntry = {
  treeId: 'run' as TreeId,
  agent: 'w',
  title: 'Go',
  status: 'suspended',
  openRequests: 1,
  seq: 9,
  createdAt: 0,
  updatedAt: 0,
}
const base = { itemId: 't1.s1.1' as ItemId, agentPath: 'root', keys: [], scope: 'call' } as const
const shell = (input: ApprovalRequest['input'], more: Partial<ApprovalRequest> = {}): WaitingRequest => {
  const request = { ...base, id: 'run:t1.s1.1/call' as ApprovalId, tool: 'shell', summary: `Run ${input.command}`, input, ...more }
  return { request, agentPath: request.agentPath, at: 0 }
}
const drawn = (requests: readonly WaitingRequest[], origin?: RunOrigin): string =>
  `\n${waitingLines({ run, requests, ...(origin && { origin }) }, { here: '/srv', folder: '/data', dataDir: undefined }, { paint: plainPaint, width: 79 }).join('\n')}\n`

describe('a run that waits', () => {
  test('leaving the sandbox: what would run, why, and what the sandbox blocked', () => {
    const request = shell(
      { command: 'make\ninstall' },
      {
        scope: 'unsandboxed',
        summary: 'Run shell again outside the sandbox: {"command":"make\\ninstall"}',
        reason: 'The headers are missing',
        inside: { error: { class: 'sandbox', message: 'no network inside' }, partial: 'exit code 1\n' },
      },
    )
    expect(drawn([request])).toMatchInlineSnapshot(`
      "
      run  w  since 1970-01-01 00:00 UTC · “Go”
        ? Run again outside the sandbox: make ⏎ install  shell
          “The headers are missing”
          outside the sandbox: with all permissions of your user account
          │ no network inside
          │ exit code 1
          command │ make
                  │ install
          y yes · n no · no REASON deny with a reason · x no, and end the run
          troupe approvals answer run yes
        troupe run FILE --resume run
      "
    `)
  })

  test('a question with its options; what a child asks; what was answered already in one line', () => {
    const question = { text: 'Which one?\nThe \u202eother?', options: ['red', 'blue\nor so'] }
    const asked = shell({}, { tool: 'ask_user', scope: 'question', summary: 'Which one?', question, agentPath: 'root/scout#2' })
    const answered = { ...shell({ command: 'make' }), answer: { kind: 'approve', breadth: 'once' } } as const
    expect(drawn([asked, answered])).toMatchInlineSnapshot(`
      "
      run  w  since 1970-01-01 00:00 UTC · “Go”
        ? scout#2 · Which one?
          │ The <U+202E>other?
          1 red
          2 blue
            or so
          a number, or your own answer
          troupe approvals answer run ANSWER
        ✓ approved: Run make  shell
        troupe run FILE --resume run
      "
    `)
  })

  test('an approval for more than one call says for what and how long', () => {
    const keys = [
      { key: 'a', label: 'echo a, b' },
      { key: 'b', label: 'sh\u001b' },
    ]
    const answered = { ...shell({ command: 'make' }, { keys }), answer: { kind: 'approve', breadth: 'session' } } as const
    expect(drawn([answered])).toContain('  ✓ approved: Run make; for this session: “echo a, b”, “sh<U+001B>”  shell\n')
  })

  test('several are named, each by its own id; long arguments are broken, not cut', () => {
    const command = `echo ${'x'.repeat(100)}`
    const lines = drawn([shell({ command }), shell({ command: 'true' }, { id: 'run:t1.s1.2/call' as ApprovalId })])
    expect(lines).toContain('troupe approvals answer run:t1.s1.1/call yes')
    expect(lines).toContain('troupe approvals answer run:t1.s1.2/call yes')
    expect(
      lines
        .match(/│ .*/g)
        ?.map((line) => line.slice(2))
        .join(''),
    ).toBe(command)
  })

  test('resumes in its original folder with its original flags; a value that begins like a flag is joined to its flag', () => {
    const flags = [
      { name: 'config', value: '/srv/sub/strict.json' },
      { name: 'config', value: '/etc/other.json' },
      { name: 'override', value: '-x=1' },
      { name: 'deny', value: 'shell(rm\u001b[2J *)' },
    ]
    const lines = drawn([], { workspace: '/srv/sub', agentFile: '/srv/w.ai', flags })
    expect(lines).toContain(
      "  cd /srv/sub && troupe run /srv/w.ai --resume run --config strict.json --config /etc/other.json --override=-x=1 --deny $'shell(rm\\x1b[2J *)'\n",
    )
    expect(drawn([])).toContain('  troupe run FILE --resume run\n')
  })
})
